"""Version 3 of the REST proxy's API: resources with links, settings, access control, groups, and records."""

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from ottla.client import Admin, Consumer, NewTopic, TopicPartition
from tests.clients.patience import until
from tests.integration.web.rest_process import RestProcess
from tests.kafka.server import Server

SCHEMA = json.dumps({"type": "record", "name": "a.b.Payment", "fields": [{"name": "cents", "type": "long"}]})


@pytest.fixture(scope="module")
def admin(kafka: Server) -> Iterator[Admin]:
    with Admin(bootstrap_servers=kafka.bootstrap) as admin:
        yield admin


def created(rest: RestProcess, name: str, partitions: int = 1) -> str:
    wish = {"topic_name": name, "partitions_count": partitions, "replication_factor": 1}
    status, answer = rest.v3("POST", "/topics", wish)
    assert status == 201, answer
    return f"/topics/{name}"


def follow(rest: RestProcess, link: dict[str, str]) -> tuple[int, Any]:
    return rest.ask("GET", link["related"].removeprefix(rest.url))


def test_the_cluster_and_its_links(rest: RestProcess) -> None:
    status, listed = rest.ask("GET", "/v3/clusters")
    (cluster,) = listed["data"]
    number = cluster["cluster_id"]
    assert (status, listed["kind"], cluster["kind"]) == (200, "KafkaClusterList", "KafkaCluster")
    assert listed["metadata"] == {"self": f"{rest.url}/v3/clusters", "next": None}
    assert cluster["metadata"] == {
        "self": f"{rest.url}/v3/clusters/{number}",
        "resource_name": f"crn:///kafka={number}",
    }
    assert rest.v3("GET", "") == (200, cluster)
    for name in ("brokers", "broker_configs", "consumer_groups", "topics", "partition_reassignments", "controller"):
        assert follow(rest, cluster[name])[0] == 200, name
    assert rest.ask("GET", "/v3/clusters/other") == (
        404,
        {"error_code": 404, "message": "Cluster other cannot be found."},
    )


def test_brokers(rest: RestProcess) -> None:
    created(rest, "v3-brokers")
    (broker,) = rest.v3("GET", "/brokers")[1]["data"]
    number = broker["broker_id"]
    assert rest.v3("GET", f"/brokers/{number}") == (200, broker)
    assert (broker["host"], broker["rack"]) == ("127.0.0.1", None) or broker["host"] == "localhost"
    replicas = follow(rest, broker["partition_replicas"])[1]["data"]
    assert "v3-brokers" in {each["topic_name"] for each in replicas}
    assert all(each["is_leader"] and each["is_in_sync"] for each in replicas)
    assert follow(rest, broker["configs"])[1]["data"][0]["kind"] == "KafkaBrokerConfig"
    assert rest.v3("GET", "/brokers/987")[1]["error_code"] == 404
    assert rest.v3("GET", "/brokers/987/configs")[0] == 404
    assert rest.v3("GET", "/brokers/x")[1]["error_code"] == 404


def test_topics(rest: RestProcess) -> None:
    wish = {
        "topic_name": "v3-topics",
        "partitions_count": 2,
        "replication_factor": 1,
        "configs": [{"name": "cleanup.policy", "value": "compact"}],
    }
    status, checked = rest.v3("POST", "/topics", {**wish, "validate_only": True})
    assert (status, checked["partitions_count"]) == (200, 2)
    assert rest.v3("GET", "/topics/v3-topics")[1]["error_code"] == 40403
    status, made = rest.v3("POST", "/topics", wish)
    assert (status, made["kind"], made["topic_name"], made["is_internal"]) == (201, "KafkaTopic", "v3-topics", False)
    shown = rest.v3("GET", "/topics/v3-topics")[1]
    assert shown == made
    assert shown["replication_factor"] == 1
    assert made in rest.v3("GET", "/topics")[1]["data"]
    grown = rest.v3("PATCH", "/topics/v3-topics", {"partitions_count": 3})
    assert (grown[0], grown[1]["partitions_count"]) == (200, 3)
    assert rest.v3("PATCH", "/topics/v3-topics", {"partitions_count": 1})[1]["error_code"] == 40002
    partitions = follow(rest, made["partitions"])[1]["data"]
    assert [each["partition_id"] for each in partitions] == [0, 1, 2]
    assert rest.v3("GET", "/topics/v3-topics/partitions/1")[1] == partitions[1]
    (replica,) = follow(rest, partitions[1]["replicas"])[1]["data"]
    assert follow(rest, partitions[1]["leader"]) == (200, replica)
    assert follow(rest, partitions[1]["reassignment"])[0] == 404
    assert follow(rest, made["partition_reassignments"])[1]["data"] == []
    assert rest.v3("GET", "/topics/v3-topics/partitions/9")[1]["error_code"] == 404
    assert rest.v3("GET", "/topics/v3-topics/partitions/9/offset")[1]["error_code"] == 40402
    assert rest.v3("DELETE", "/topics/v3-topics") == (204, "")
    assert rest.v3("DELETE", "/topics/v3-topics")[1]["error_code"] == 40403


@pytest.mark.parametrize(
    ("wish", "status", "error_code"),
    [
        ({"topic_name": "v3 bad"}, 422, 42206),
        ({"topic_name": "v3-x", "replication_factor": 99}, 400, 40002),
        ({"topic_name": "v3-x", "configs": [{"name": "no.such", "value": "1"}]}, 400, 40002),
        ({"topic_name": "v3-x", "partitions_count": 0}, 400, 40002),
        ({"topic_name": "v3-x", "replicas_assignments": {"x": [1]}}, 400, 400),
        ({"topic_name": "v3-x", "size": 1}, 422, 422),
        ({}, 422, 422),
    ],
)
def test_topics_that_can_not_be(rest: RestProcess, wish: dict[str, Any], status: int, error_code: int) -> None:
    found, answer = rest.v3("POST", "/topics", wish)
    assert (found, answer["error_code"]) == (status, error_code)
    assert answer["message"]


def test_replicas_may_be_assigned(rest: RestProcess) -> None:
    broker = rest.v3("GET", "/brokers")[1]["data"][0]["broker_id"]
    status, made = rest.v3("POST", "/topics", {"topic_name": "v3-assigned", "replicas_assignments": {"0": [broker]}})
    assert status == 201, made
    again = rest.v3("POST", "/topics", {"topic_name": "v3-assigned"})
    assert (again[0], again[1]["error_code"]) == (400, 40002)


def test_settings_of_a_topic(rest: RestProcess) -> None:
    path = f"{created(rest, 'v3-configs')}/configs"
    shown = rest.v3("GET", f"{path}/retention.ms")[1]
    assert (shown["kind"], shown["is_default"], shown["source"]) == ("KafkaTopicConfig", True, "DEFAULT_CONFIG")
    assert rest.v3("PUT", f"{path}/retention.ms", {"value": "1000"}) == (204, "")
    until("1000", lambda: rest.v3("GET", f"{path}/retention.ms")[1]["value"])
    shown = rest.v3("GET", f"{path}/retention.ms")[1]
    assert shown["source"] == "DYNAMIC_TOPIC_CONFIG"
    assert shown["synonyms"][0]["value"] == "1000"
    assert rest.v3("DELETE", f"{path}/retention.ms") == (204, "")
    changes = [{"name": "cleanup.policy", "value": "compact"}, {"name": "retention.ms", "operation": "DELETE"}]
    assert rest.v3("POST", f"{path}:alter", {"data": changes, "validate_only": True})[0] == 204
    assert rest.v3("GET", f"{path}/cleanup.policy")[1]["value"] == "delete"
    assert rest.v3("POST", f"{path}:alter", {"data": changes})[0] == 204
    until("compact", lambda: rest.v3("GET", f"{path}/cleanup.policy")[1]["value"])
    assert rest.v3("GET", f"{path}/no.such")[1]["error_code"] == 404
    assert rest.v3("PUT", f"{path}/no.such", {"value": "1"})[1]["error_code"] == 404
    assert rest.v3("PUT", f"{path}/retention.ms", {"value": "soon"})[1]["error_code"] == 40002
    assert rest.v3("GET", "/topics/absent/configs")[1]["error_code"] == 40403
    everywhere = rest.v3("GET", "/topics/-/configs")[1]["data"]
    assert {"topic_name": "v3-configs", "name": "cleanup.policy", "value": "compact"}.items() <= next(
        each for each in everywhere if (each["topic_name"], each["name"]) == ("v3-configs", "cleanup.policy")
    ).items()
    wishes = [
        {"topic_name": "v3-configs", "configs": [{"name": "retention.ms", "value": "5"}]},
        {"topic_name": "absent", "configs": [{"name": "retention.ms", "value": "5"}]},
    ]
    status, answer = rest.v3("POST", "/topics/-/configs:alter", {"data": wishes})
    assert (status, [each["error_code"] for each in answer["failures"]]) == (207, [40403])
    until("5", lambda: rest.v3("GET", f"{path}/retention.ms")[1]["value"])


def test_settings_of_brokers(rest: RestProcess) -> None:
    broker = rest.v3("GET", "/brokers")[1]["data"][0]["broker_id"]
    name = "log.cleaner.threads"
    assert rest.v3("PUT", f"/broker-configs/{name}", {"value": "2"})[0] == 204
    # Brokers hear of it a moment later.
    until(200, lambda: rest.v3("GET", f"/broker-configs/{name}")[0])
    shown = rest.v3("GET", f"/broker-configs/{name}")[1]
    assert (shown["kind"], shown["config_type"], shown["value"]) == ("KafkaClusterConfig", "BROKER", "2")
    assert name in {each["name"] for each in rest.v3("GET", "/broker-configs")[1]["data"]}
    assert rest.v3("GET", f"/brokers/{broker}/configs/{name}")[1]["source"] == "DYNAMIC_DEFAULT_BROKER_CONFIG"
    assert {each["broker_id"] for each in rest.v3("GET", "/brokers/-/configs")[1]["data"]} == {broker}
    assert rest.v3("DELETE", f"/broker-configs/{name}")[0] == 204
    until(404, lambda: rest.v3("GET", f"/broker-configs/{name}")[0])


def test_access_control_is_refused_without_an_authorizer(rest: RestProcess) -> None:
    rule = {
        "resource_type": "TOPIC",
        "resource_name": "a",
        "pattern_type": "LITERAL",
        "principal": "User:alice",
        "host": "*",
        "operation": "READ",
        "permission": "ALLOW",
    }
    assert rest.v3("GET", "/acls")[1]["error_code"] == 40002
    assert rest.v3("POST", "/acls", rule)[1]["error_code"] == 40002
    assert rest.v3("POST", "/acls:batch", {"data": [rule]})[1]["error_code"] == 40002
    assert rest.v3("POST", "/acls", {**rule, "operation": "ANY"})[0] == 400
    assert rest.v3("POST", "/acls", {**rule, "operation": "FLY"})[0] == 400
    assert rest.v3("DELETE", "/acls")[1]["message"] == ("Bad Request: resource_type cannot be unspecified or UNKNOWN")


def test_groups_and_how_far_they_are_behind(rest: RestProcess, kafka: Server) -> None:
    topic = "v3-lags"
    path = created(rest, topic)
    for _ in range(5):
        assert rest.v3("POST", f"{path}/records", {"value": {"type": "JSON", "data": 1}})[1]["error_code"] == 200
    place = TopicPartition(topic, 0)
    settings = {
        "bootstrap.servers": kafka.bootstrap,
        "group.id": "v3 group/ü",
        "client.id": "c",
        "enable.auto.commit": False,
    }
    with Consumer(settings) as consumer:
        consumer.subscribe([topic])
        while not consumer.assignment():
            consumer.poll(0.2)
        consumer.commit({place: 2})
        group = f"/consumer-groups/{quote('v3 group/ü', safe='')}"
        shown = rest.v3("GET", group)[1]
        assert (shown["state"], shown["type"], shown["is_simple"]) == ("STABLE", "CLASSIC", False)
        assert shown in rest.v3("GET", "/consumer-groups")[1]["data"]
        assert follow(rest, shown["coordinator"])[0] == 200
        (member,) = follow(rest, shown["consumers"])[1]["data"]
        assert (member["client_id"], member["instance_id"]) == ("c", None)
        assert rest.ask("GET", member["metadata"]["self"].removeprefix(rest.url)) == (200, member)
        (assignment,) = follow(rest, member["assignments"])[1]["data"]
        assert rest.ask("GET", assignment["metadata"]["self"].removeprefix(rest.url)) == (200, assignment)
        lag = follow(rest, assignment["lag"])[1]
        assert (lag["current_offset"], lag["log_end_offset"], lag["lag"]) == (2, 5, 3)
        assert lag["consumer_id"] == member["consumer_id"]
        assert rest.v3("GET", f"{group}/lags")[1]["data"] == [lag]
        summary = follow(rest, shown["lag_summary"])[1]
        assert (summary["max_lag"], summary["total_lag"], summary["max_lag_topic_name"]) == (3, 3, topic)
        assert rest.v3("GET", f"{group}/lags/{topic}/partitions/1")[0] == 404
        assert rest.v3("GET", f"{group}/consumers/nobody")[0] == 404
    assert rest.v3("GET", "/consumer-groups/absent")[1]["error_code"] == 404
    assert rest.v3("GET", "/consumer-groups/absent/lags")[1]["error_code"] == 404


def test_one_record(rest: RestProcess, kafka: Server) -> None:
    path = created(rest, "v3-records", 2)
    data = base64.b64encode(b"\x00\xff").decode()
    status, sent = rest.v3(
        "POST",
        f"{path}/records",
        {
            "partition_id": 1,
            "headers": [{"name": "h", "value": data}, {"name": "h", "value": None}],
            "key": {"type": "BINARY", "data": data},
            "value": {"type": "STRING", "data": "ü"},
            "timestamp": "2021-02-05T19:14:42Z",
        },
    )
    cluster = sent.pop("cluster_id")
    assert cluster
    assert (status, sent) == (
        200,
        {
            "error_code": 200,
            "topic_name": "v3-records",
            "partition_id": 1,
            "offset": 0,
            "timestamp": "2021-02-05T19:14:42Z",
            "key": {"type": "BINARY", "size": 2},
            "value": {"type": "STRING", "size": 2},
        },
    )
    with Consumer(bootstrap_servers=kafka.bootstrap) as consumer:
        consumer.assign([TopicPartition("v3-records", 1)])
        consumer.seek_to_beginning()
        (record,) = consumer.poll(30)
    assert (record.key, record.value) == (b"\x00\xff", "ü".encode())
    assert list(record.headers) == [("h", b"\x00\xff"), ("h", None)]
    offsets = rest.v3("GET", f"{path}/partitions/1/offset")[1]
    assert (offsets["earliest_offset"], offsets["latest_offset"]) == (0, 1)
    assert rest.v3("GET", f"{path}/partitions/1/offset?offset_type=x")[0] == 400


def test_records_with_schemas(rest: RestProcess) -> None:
    path = created(rest, "v3-schemas")

    def send(value: dict[str, Any]) -> dict[str, Any]:
        status, answer = rest.v3("POST", f"{path}/records", {"value": value})
        assert status == 200
        return answer

    first = send({"type": "AVRO", "schema": SCHEMA, "data": {"cents": 7}})
    shown = first["value"]
    assert (shown["type"], shown["subject"], shown["schema_version"]) == ("AVRO", "v3-schemas-value", 1)
    for wish in ({"schema_id": shown["schema_id"]}, {"schema_version": 1}, {}):
        assert send({**wish, "data": {"cents": 8}})["value"] == shown
    named = send({"type": "AVRO", "subject_name_strategy": "RECORD_NAME", "schema": SCHEMA, "data": {"cents": 1}})
    assert named["value"]["subject"] == "a.b.Payment"
    proto = 'syntax = "proto3"; message M { string a = 1; }'
    assert (
        send({"type": "PROTOBUF", "subject": "v3-p", "schema": proto, "data": {"a": "x"}})["value"]["subject"] == "v3-p"
    )
    document = '{"type": "object"}'
    assert (
        send({"type": "JSONSCHEMA", "subject": "v3-j", "schema": document, "data": {}})["value"]["type"] == "JSONSCHEMA"
    )
    assert send({"type": "AVRO", "data": {"cents": 7}})["error_code"] == 400
    assert send({"type": "AVRO", "schema_id": 1, "data": {}})["error_code"] == 400
    assert send({"type": "JSON", "schema": "{}", "data": 1})["error_code"] == 200
    assert send({"schema_id": 98765, "data": 1})["error_code"] == 42207
    assert send({"subject": "absent", "data": 1})["error_code"] == 42207
    assert send({"schema_version": 9, "data": 1})["error_code"] == 400
    assert send({"type": "AVRO", "schema": "{", "data": 1})["error_code"] == 400
    assert send({"schema_id": shown["schema_id"], "data": {"cents": "x"}})["error_code"] == 400


@pytest.mark.parametrize(
    ("record", "error_code"),
    [
        ({}, 200),
        ({"value": {"type": "BINARY", "data": 1}}, 400),
        ({"value": {"type": "XML", "data": 1}}, 400),
        ({"partition_id": -1}, 40402),
        ({"partition_id": 9}, 40402),
        ({"headers": [{"name": "a", "value": "!"}]}, 400),
        ({"headers": [{"value": "YQ=="}]}, 422),
        ({"timestamp": "soon"}, 400),
        ({"more": 1}, 422),
        ([], 400),
    ],
)
def test_records_that_make_no_sense(rest: RestProcess, admin: Admin, record: Any, error_code: int) -> None:
    admin.create_topics([NewTopic("v3-nonsense", partitions=1, replication_factor=1)], errors={})
    status, answer = rest.v3("POST", "/topics/v3-nonsense/records", record)
    assert (status, answer["error_code"]) == (200, error_code), answer


def test_a_topic_that_can_not_be(rest: RestProcess) -> None:
    status, answer = rest.v3("POST", "/topics/v3%20no/records", {})
    assert (status, answer["error_code"]) == (200, 42206)


def test_a_batch(rest: RestProcess) -> None:
    path = f"{created(rest, 'v3-batch')}/records:batch"
    value = {"type": "JSON", "data": {"a": 1}}
    entries = [{"id": "1", "value": value}, {"id": "2", "value": {"type": "BINARY", "data": 1}}]
    status, answer = rest.v3("POST", path, {"entries": entries})
    assert status == 207
    (success,), (failure,) = answer["successes"], answer["failures"]
    assert (success["id"], success["offset"], success["value"]) == ("1", 0, {"type": "JSON", "size": 7})
    assert failure == {"id": "2", "error_code": 400, "message": "Bad Request: data=1 is not a base64 string."}
    for wrong in ([], [{"id": "1"}, {"id": "1"}], [{"id": ""}], [{"id": str(number)} for number in range(11)]):
        status, answer = rest.v3("POST", path, {"entries": wrong})
        assert (status, answer["error_code"]) == (422, 42208)
