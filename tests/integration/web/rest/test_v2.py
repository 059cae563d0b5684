"""Version 2 of the REST proxy's API, as its clients use it: produce in all formats, consumers, and what there is."""

import base64
import http.client
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from ottla.client import Admin, NewTopic, Producer
from tests.integration.web.rest_process import V2, RestProcess, type_of
from tests.integration.web.service_process import eventually
from tests.kafka.server import Server

EMPLOYEE = {
    "type": "record",
    "name": "Employee",
    "fields": [{"name": "name", "type": "string"}, {"name": "age", "type": ["null", "int"], "default": None}],
}
PROTO = 'syntax = "proto3"; message Order { string id = 1; int32 count_of = 2; }'
DOCUMENT = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}


@pytest.fixture(scope="module")
def admin(kafka: Server) -> Iterator[Admin]:
    with Admin(bootstrap_servers=kafka.bootstrap) as admin:
        yield admin


def topic_of(admin: Admin, name: str, partitions: int = 1) -> str:
    admin.create_topics([NewTopic(name, partitions=partitions, replication_factor=1)])
    return name


@contextmanager
def consumer(rest: RestProcess, group: str, kind: str = "json", **settings: object) -> Iterator[str]:
    """The path of a new consumer that begins at the first record, closed at the end."""
    wish = {"format": kind, "auto.offset.reset": "earliest", **settings}
    status, made = rest.ask("POST", f"/consumers/{group}", wish)
    assert status == 200, made
    path = made["base_uri"].removeprefix(rest.url)
    try:
        yield path
    finally:
        assert rest.ask("DELETE", path)[0] == 204


def read(rest: RestProcess, path: str, count: int, kind: str = "json") -> list[dict[str, Any]]:
    """The next `count` records."""
    found: list[dict[str, Any]] = []
    for _ in range(60):
        status, records = rest.ask("GET", f"{path}/records?timeout=2000", Accept=type_of(kind))
        assert status == 200, records
        found += records
        if len(found) >= count:
            break
    assert len(found) == count, found
    return found


def values(records: Sequence[dict[str, Any]]) -> list[Any]:
    return [record["value"] for record in records]


def test_what_there_is(rest: RestProcess, admin: Admin) -> None:
    topic = topic_of(admin, "v2-metadata", 2)
    assert rest.ask("GET", "/") == (200, {})
    status, brokers = rest.ask("GET", "/brokers")
    assert (status, len(brokers["brokers"])) == (200, 1)
    assert topic in rest.ask("GET", "/topics")[1]
    shown = rest.ask("GET", f"/topics/{topic}")[1]
    assert (shown["name"], shown["configs"]["cleanup.policy"], len(shown["partitions"])) == (topic, "delete", 2)
    broker = brokers["brokers"][0]
    replica = {"broker": broker, "leader": True, "in_sync": True}
    partition = {"partition": 1, "leader": broker, "replicas": [replica]}
    assert rest.ask("GET", f"/topics/{topic}/partitions/1") == (200, partition)
    assert rest.ask("GET", f"/topics/{topic}/partitions")[1][1] == partition
    assert rest.produce(topic, "json", {"value": 1, "partition": 1}, {"value": 2, "partition": 1})[0] == 200
    offsets = {"beginning_offset": 0, "end_offset": 2}
    assert rest.ask("GET", f"/topics/{topic}/partitions/1/offsets") == (200, offsets)


@pytest.mark.parametrize(
    ("method", "path", "status", "error_code"),
    [
        ("GET", "/topics/absent", 404, 40403),
        ("GET", "/topics/v2-errors/partitions/9", 404, 40402),
        ("GET", "/topics/v2-errors/partitions/9/offsets", 404, 40402),
        ("GET", "/topics/v2-errors/partitions/x", 404, 404),
        ("GET", "/nothing/here", 404, 404),
        ("PUT", "/topics", 405, 405),
        ("GET", "/consumers/g/instances/i/records", 404, 40403),
        ("DELETE", "/consumers/g/instances/i", 404, 40403),
    ],
)
def test_errors(rest: RestProcess, admin: Admin, method: str, path: str, status: int, error_code: int) -> None:
    admin.create_topics([NewTopic("v2-errors", partitions=1, replication_factor=1)], errors={})
    found, body = rest.ask(method, path)
    assert (found, body["error_code"]) == (status, error_code)
    assert body["message"]


def test_binary_records_go_in_and_out(rest: RestProcess, admin: Admin) -> None:
    topic = topic_of(admin, "v2-binary")
    key, value = (base64.b64encode(each).decode() for each in (b"k\xff", b"\x00v"))
    status, answer = rest.produce(topic, "binary", {"key": key, "value": value}, {"value": None})
    assert status == 200
    assert answer == {
        "offsets": [
            {"partition": 0, "offset": 0, "error_code": None, "error": None},
            {"partition": 0, "offset": 1, "error_code": None, "error": None},
        ],
        "key_schema_id": None,
        "value_schema_id": None,
    }
    with consumer(rest, "v2-binary", "binary") as path:
        assert rest.ask("POST", f"{path}/subscription", {"topics": [topic]})[0] == 204
        assert rest.ask("GET", f"{path}/subscription") == (200, {"topics": [topic]})
        assert read(rest, path, 2, "binary") == [
            {"topic": topic, "key": key, "value": value, "partition": 0, "offset": 0},
            {"topic": topic, "key": None, "value": None, "partition": 0, "offset": 1},
        ]
        assert rest.ask("GET", f"{path}/assignments") == (200, {"partitions": [{"topic": topic, "partition": 0}]})
        assert rest.ask("GET", f"{path}/records", Accept=type_of("avro"))[1]["error_code"] == 40601


def test_json_records_are_compact(rest: RestProcess, admin: Admin, kafka: Server) -> None:
    topic = topic_of(admin, "v2-json")
    value = {"b": [1, 2.5, None], "a": "ü"}
    path = f"/topics/{topic}/partitions/0"
    assert rest.ask("POST", path, {"records": [{"key": 1, "value": value}]}, Content_Type=type_of("json"))[0] == 200
    with consumer(rest, "v2-json") as instance:
        assert rest.ask("POST", f"{instance}/assignments", {"partitions": [{"topic": topic, "partition": 0}]})[0] == 204
        assert values(read(rest, instance, 1)) == [value]
    with Producer(bootstrap_servers=kafka.bootstrap) as producer:
        producer.send(topic, b"no json").result()
    with consumer(rest, "v2-json") as instance:
        rest.ask("POST", f"{instance}/assignments", {"partitions": [{"topic": topic, "partition": 0}]})
        rest.ask("POST", f"{instance}/positions", {"offsets": [{"topic": topic, "partition": 0, "offset": 1}]})
        status, refusal = rest.ask("GET", f"{instance}/records?timeout=5000", Accept=type_of("json"))
        assert (status, refusal["error_code"]) == (408, 40801)
        assert refusal["message"].startswith(f"{topic}-0, offset 1: the record is not JSON")


@pytest.mark.parametrize(
    ("kind", "schema", "value"),
    [
        ("avro", json.dumps(EMPLOYEE), {"name": "Bob", "age": {"int": 35}}),
        ("protobuf", PROTO, {"id": "a", "countOf": 3}),
        ("jsonschema", json.dumps(DOCUMENT), {"id": "a", "more": True}),
    ],
)
def test_records_with_a_schema(rest: RestProcess, admin: Admin, kind: str, schema: str, value: Any) -> None:
    topic = topic_of(admin, f"v2-{kind}")
    status, answer = rest.produce(topic, kind, {"value": value}, value_schema=schema)
    assert (status, answer["offsets"][0]["offset"], answer["key_schema_id"]) == (200, 0, None), answer
    number = answer["value_schema_id"]
    assert rest.produce(topic, kind, {"value": value}, value_schema_id=number)[1]["offsets"][0]["offset"] == 1
    with consumer(rest, f"v2-{kind}", kind) as path:
        rest.ask("POST", f"{path}/assignments", {"partitions": [{"topic": topic, "partition": 0}]})
        assert values(read(rest, path, 2, kind)) == [value, value]
    assert rest.produce(topic, kind, {"value": value})[1]["error_code"] == 42202
    assert rest.produce(topic, kind, {"key": value})[1]["error_code"] == 42201
    status, answer = rest.produce(topic, kind, {"value": {"x": "no"}}, value_schema_id=number)
    assert (status, answer["error_code"]) == (400, 400)
    assert rest.produce(topic, kind, {"value": value}, value_schema_id=987654)[1]["error_code"] == 42207
    assert rest.produce(topic, kind, {"value": value}, value_schema="{no")[0] == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"records": []}, 422),
        ({"records": [{"value": 1, "x": 1}]}, 422),
        ({"records": {}}, 400),
        ({"records": [1]}, 400),
        ({"records": [{"value": "!"}]}, 400),
        ({"records": [{"value": "YQ==", "partition": -1}]}, 422),
        ({"records": [{"value": "YQ==", "partition": "x"}]}, 400),
        (None, 400),
    ],
)
def test_bodies_that_make_no_sense(rest: RestProcess, admin: Admin, body: object, status: int) -> None:
    admin.create_topics([NewTopic("v2-bodies", partitions=1, replication_factor=1)], errors={})
    found, answer = rest.ask("POST", "/topics/v2-bodies", body, Content_Type=type_of("binary"))
    assert (found, answer["error_code"]) == (status, status)


def test_each_record_has_its_own_error(rest: RestProcess, admin: Admin) -> None:
    topic = topic_of(admin, "v2-partial")
    status, answer = rest.produce(topic, "json", {"value": 1}, {"value": 2, "partition": 7}, {"value": 3})
    assert status == 200
    assert [each["error_code"] for each in answer["offsets"]] == [None, 50003, None]
    assert "7" in answer["offsets"][1]["error"]
    assert rest.ask("POST", f"/topics/{topic}", {"records": []}, Content_Type="text/plain")[0] == 415
    status, answer = rest.produce("no%20topic", "json", {"value": 1}, {"value": 2})
    assert (status, [each["error_code"] for each in answer["offsets"]]) == (200, [50002, 50002])


def test_positions_commits_and_what_is_committed(rest: RestProcess, admin: Admin) -> None:
    topic = topic_of(admin, "v2-offsets")
    assert rest.produce(topic, "json", *({"value": number} for number in range(10)))[0] == 200
    place = {"topic": topic, "partition": 0}
    with consumer(rest, "v2-offsets", **{"auto.commit.enable": "false"}) as path:
        assert rest.ask("POST", f"{path}/assignments", {"partitions": [place]})[0] == 204
        assert rest.ask("POST", f"{path}/subscription", {"topics": [topic]})[1]["error_code"] == 40903
        assert values(read(rest, path, 10)) == list(range(10))
        assert rest.ask("POST", f"{path}/offsets", {"offsets": [{**place, "offset": 4}]}) == (200, [])
        found = rest.ask("GET", f"{path}/offsets", {"partitions": [place]})
        assert found == (200, {"offsets": [{**place, "offset": 5, "metadata": ""}]})
        assert rest.ask("POST", f"{path}/positions/beginning", {"partitions": [place]})[0] == 204
        small = rest.ask("GET", f"{path}/records?max_bytes=3&timeout=5000", Accept=type_of("json"))[1]
        assert values(small) == [0, 1, 2]
        assert rest.ask("POST", f"{path}/offsets") == (200, [])
        assert rest.ask("GET", f"{path}/offsets", {"partitions": [place]})[1]["offsets"][0]["offset"] == 3
        assert values(read(rest, path, 7)) == list(range(3, 10))
        assert rest.ask("POST", f"{path}/positions/end", {"partitions": [place]})[0] == 204
        assert rest.ask("GET", f"{path}/records?timeout=100", Accept=type_of("json")) == (200, [])
        moment = {**place, "timestamp": "2020-01-01T00:00:00Z"}
        assert rest.ask("POST", f"{path}/positions", {"timestamps": [moment]})[0] == 204
        assert values(read(rest, path, 10)) == list(range(10))
        elsewhere = {"partitions": [{"topic": topic, "partition": 5}]}
        assert rest.ask("POST", f"{path}/positions/end", elsewhere)[1]["error_code"] == 40903
        assert rest.ask("GET", f"{path}/offsets")[1]["error_code"] == 40402


def test_a_pattern_is_a_subscription(rest: RestProcess, admin: Admin) -> None:
    topics = [topic_of(admin, f"v2-pattern-{number}") for number in range(2)]
    for topic in topics:
        rest.produce(topic, "json", {"value": topic})
    with consumer(rest, "v2-pattern") as path:
        assert rest.ask("POST", f"{path}/subscription", {"topic_pattern": "v2-pattern-(["})[0] == 422
        assert rest.ask("POST", f"{path}/subscription", {"topic_pattern": "v2-pattern-.*"})[0] == 204
        assert sorted(values(read(rest, path, 2))) == topics
        assert rest.ask("DELETE", f"{path}/subscription")[0] == 204
        assert rest.ask("GET", f"{path}/subscription") == (200, {"topics": []})


def test_names_and_settings_of_consumers(rest: RestProcess) -> None:
    group = "v2%2Fnames%20%C3%BC"
    status, made = rest.ask("POST", f"/consumers/{group}", {"name": "a/b", "format": "binary"})
    assert (status, made["instance_id"]) == (200, "a/b")
    assert made["base_uri"] == f"{rest.url}/consumers/{group}/instances/a%2Fb"
    assert rest.ask("POST", f"/consumers/{group}", {"name": "a/b"})[1]["error_code"] == 40902
    assert rest.ask("DELETE", made["base_uri"].removeprefix(rest.url))[0] == 204
    assert rest.ask("POST", "/consumers/g", {"format": "xml"}) == (
        422,
        {"error_code": 422, "message": "Invalid format type."},
    )
    assert rest.ask("POST", "/consumers/g", {"auto.offset.reset": "soon"})[1]["error_code"] == 42204
    assert rest.ask("POST", "/consumers/g", {"fetch.min.bytes": -5})[1]["error_code"] == 40001
    assert rest.ask("POST", "/consumers/g", {"size": 1})[1] == {
        "error_code": 422,
        "message": "Unrecognized field: size",
    }
    status, made = rest.ask("POST", "/consumers/g")
    assert made["instance_id"].startswith("rest-consumer-")


def test_an_idle_consumer_is_closed(kafka: Server, tmp_path: Any) -> None:
    proxy = RestProcess(tmp_path, kafka.bootstrap, consumer_instance_timeout_ms="300", id="p1").start()
    try:
        made = proxy.ask("POST", "/consumers/g", {})[1]
        assert made["instance_id"].startswith("rest-consumer-p1-")
        path = made["base_uri"].removeprefix(proxy.url)
        eventually(lambda: proxy.ask("GET", "/metrics")[1].count("rest_consumer_instances 0") == 1, proxy)
        assert proxy.ask("GET", f"{path}/subscription")[1]["error_code"] == 40403
        assert proxy.stop() == 0
    finally:
        proxy.kill()


def test_the_answer_has_the_type_that_was_asked_for(rest: RestProcess) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", rest.port, timeout=30)
    for accept, expected in (("*/*", V2), ("application/json", "application/json"), (V2, V2)):
        connection.request("GET", "/topics", headers={"Accept": accept})
        response = connection.getresponse()
        response.read()
        assert response.getheader("content-type") == expected
    connection.request("GET", "/topics", headers={"Accept": "image/png"})
    response = connection.getresponse()
    assert response.status == 406
    response.read()
    connection.close()
