"""The registry's HTTP API as Confluent's clients, people with curl, and people with bad intentions use it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ottla.client import Admin, NewTopic
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.served import Connection, ask_all, request_bytes
from tests.kafka.server import Server

NAME = "com.cloudurable.phonebook"
EMPLOYEE = {
    "namespace": NAME,
    "type": "record",
    "name": "Employee",
    "fields": [
        {"name": "firstName", "type": "string"},
        {"name": "lastName", "type": "string"},
        {"name": "age", "type": "int"},
        {"name": "phoneNumber", "type": "string"},
    ],
}


def body_of(schema: object) -> dict[str, str]:
    return {"schema": json.dumps(schema)}


def record(*names: str) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": [{"name": name, "type": "string"} for name in names]}


def test_the_training_as_printed(registry: RegistryProcess) -> None:
    status, answer = registry.ask("POST", "/subjects/Employee/versions", body_of(EMPLOYEE))
    assert status == 200
    number = answer["id"]
    assert "Employee" in registry.ask("GET", "/subjects")[1]
    assert registry.ask("GET", "/subjects/Employee/versions/") == (200, [1])
    shown = registry.ask("GET", "/subjects/Employee/versions/1")[1]
    assert (shown["subject"], shown["version"], shown["id"]) == ("Employee", 1, number)
    assert json.loads(registry.ask("GET", f"/schemas/ids/{number}")[1]["schema"])["name"] == "Employee"
    assert registry.ask("GET", "/subjects/Employee/versions/latest")[1]["version"] == 1
    assert registry.ask("POST", "/subjects/Employee", body_of(EMPLOYEE))[1]["id"] == number
    latest = "/compatibility/subjects/Employee/versions/latest"
    assert registry.ask("POST", latest, body_of(EMPLOYEE)) == (200, {"is_compatible": True})
    assert registry.ask("PUT", "/config/Employee", {"compatibility": "backward"}) == (
        200,
        {"compatibility": "BACKWARD"},
    )
    renamed = {**EMPLOYEE, "fields": [{"name": "fName", "type": "string"}, {"name": "lName", "type": "string"}]}
    assert registry.ask("POST", latest, body_of(renamed)) == (200, {"is_compatible": False})
    status, answer = registry.ask("POST", "/subjects/Employee/versions", body_of(renamed))
    assert status == 409
    assert answer["message"].startswith("Schema being registered is incompatible with an earlier schema")
    verbose = registry.ask("POST", f"{latest}?verbose=True", body_of(renamed))[1]
    assert any("READER_FIELD_MISSING_DEFAULT_VALUE" in message for message in verbose["messages"])
    assert registry.ask("PUT", "/config", {"compatibility": "none"}) == (200, {"compatibility": "NONE"})
    assert registry.ask("DELETE", "/config") == (200, {"compatibilityLevel": "NONE"})
    assert registry.ask("GET", "/config") == (200, {"compatibilityLevel": "BACKWARD"})


def test_a_new_field_with_a_default_is_allowed_and_its_removal_too(registry: RegistryProcess) -> None:
    first = {**EMPLOYEE, "fields": EMPLOYEE["fields"][:2]}
    aged = {**EMPLOYEE, "fields": [*first["fields"], {"name": "age", "type": "int", "default": -1}]}
    nicknamed = {**EMPLOYEE, "fields": [*first["fields"], {"name": "nick", "type": ["string", "null"], "default": ""}]}
    answers = [registry.ask("POST", "/subjects/evolving/versions", body_of(each)) for each in (first, aged, nicknamed)]
    assert [(status, answer["version"]) for status, answer in answers] == [(200, 1), (200, 2), (200, 3)]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "error_code"),
    [
        ("GET", "/subjects/none/versions", None, 404, 40401),
        ("GET", "/subjects/none/versions/1", None, 404, 40401),
        ("GET", "/schemas/ids/999999", None, 404, 40403),
        ("GET", "/schemas/ids/one", None, 404, 404),
        ("GET", "/schemas/guids/none", None, 404, 40403),
        ("DELETE", "/subjects/none", None, 404, 40401),
        ("DELETE", "/subjects/none/versions/1", None, 404, 40401),
        ("GET", "/subjects/none/versions/zero", None, 422, 42202),
        ("GET", "/subjects/none/versions/0", None, 422, 42202),
        ("GET", "/subjects/none/versions/2147483648", None, 422, 42202),
        ("POST", "/subjects/bad/versions", {"schema": "{"}, 422, 42201),
        ("POST", "/subjects/bad/versions", {"schema": ""}, 422, 42201),
        ("POST", "/subjects/bad/versions", {"schema": 5}, 400, 400),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "schemaType": "XML"}, 422, 42201),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "version": "one"}, 400, 400),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "references": 5}, 422, 422),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "metadata": []}, 422, 422),
        ("POST", "/subjects/bad/versions", {"schema": '"int"', "id": 7}, 422, 42205),
        ("POST", "/subjects/bad%00/versions", {"schema": '"int"'}, 422, 42208),
        ("POST", "/subjects/__GLOBAL/versions", {"schema": '"int"'}, 422, 42208),
        ("POST", "/subjects/bad/versions", [], 422, 422),
        ("POST", "/compatibility/subjects/none/versions/3", {"schema": '"int"'}, 404, 40402),
        ("PUT", "/config/bad", {"compatibility": "sideways"}, 422, 42203),
        ("PUT", "/mode/bad", {"mode": "sideways"}, 422, 42204),
        ("GET", "/config/none", None, 404, 40408),
        ("GET", "/mode/none", None, 404, 40409),
        ("DELETE", "/config/none", None, 404, 40401),
        ("GET", "/nothing", None, 404, 404),
        ("PUT", "/subjects", {}, 405, 405),
    ],
)
def test_refusals_have_confluents_numbers(
    registry: RegistryProcess, method: str, path: str, body: object, status: int, error_code: int
) -> None:
    found, answer = registry.ask(method, path, body)
    assert (found, answer["error_code"]) == (status, error_code)


def test_unknown_fields_are_ignored(registry: RegistryProcess) -> None:
    body = {**body_of("long"), "tomorrow": {"a": 1}, "schemaTagsToAdd": None}
    assert registry.ask("POST", "/subjects/newer-client/versions", body)[0] == 200


def test_contexts_have_paths_of_their_own(registry: RegistryProcess) -> None:
    put = registry.ask("POST", "/contexts/.blue/subjects/orders/versions", body_of(record("x")))[1]
    assert put["id"] == 1
    shown = registry.ask("GET", "/subjects/:.blue:orders/versions/1")[1]
    assert shown["subject"] == ":.blue:orders"
    assert registry.ask("GET", "/contexts")[1][0] == "."
    assert ".blue" in registry.ask("GET", "/contexts")[1]
    assert registry.ask("GET", "/contexts/.blue/subjects")[1] == [":.blue:orders"]
    assert registry.ask("GET", "/schemas/ids/1?subject=:.blue:")[1]["subject"] == ":.blue:orders"
    # A plain subject that the default context does not have is found where it is.
    assert registry.ask("GET", "/subjects/orders/versions/latest")[1]["subject"] == ":.blue:orders"
    assert registry.ask("DELETE", "/contexts/.blue")[1]["error_code"] == 42211


def test_lists_have_pages(registry: RegistryProcess) -> None:
    for index in range(5):
        registry.ask("POST", f"/subjects/paged-{index}/versions", body_of(record(f"p{index}")))
    pages = [registry.ask("GET", f"/subjects?subjectPrefix=paged-&offset={at}&limit=2")[1] for at in (0, 2, 4, 6)]
    assert pages == [["paged-0", "paged-1"], ["paged-2", "paged-3"], ["paged-4"], []]
    assert len(registry.ask("GET", "/schemas?subjectPrefix=paged-&limit=3")[1]) == 3


TRAVERSAL = "%2e%2e%2f%2e%2e%2fetc%2fpasswd"


@pytest.mark.parametrize("name", ["..", TRAVERSAL, "%25", "%20", "%F0%9F%9A%9A", "a%2F%2Fb", "%5C"])
def test_awkward_names_are_only_names(registry: RegistryProcess, name: str) -> None:
    path = f"/subjects/{name}/versions"
    assert registry.ask("POST", path, body_of(record("x")))[0] == 200
    assert registry.ask("GET", path) == (200, [1])
    assert registry.ask("DELETE", f"/subjects/{name}") == (200, [1])


def test_nothing_that_is_sent_is_answered_with_500(registry: RegistryProcess) -> None:
    deep = '{"type":"array","items":' * 2000 + '"int"' + "}" * 2000
    bodies = [
        b"",
        b"null",
        b"\xff\xfe",
        b"[" * 50_000,
        b'{"schema":"\\ud800"}',
        b'{"schema":"\\u0000"}',
        json.dumps({"schema": deep}).encode(),
        json.dumps({"schema": '{"type":"record","name":"\\ud800","fields":[]}'}).encode(),
        json.dumps({"schema": '"int"', "version": 2**70}).encode(),
        json.dumps({"schema": '"int"', "references": [{"name": "n", "subject": "\ud800", "version": -1}]}).encode(),
        json.dumps({"schema": "syntax = 'proto3'; message", "schemaType": "PROTOBUF"}).encode(),
        json.dumps({"schema": '"int"', "metadata": {"properties": {"a": {}}}}).encode(),
        json.dumps({"schema": '"int"', "ruleSet": {"domainRules": [{"name": "1"}]}}).encode(),
    ]
    paths = ["/subjects/h/versions", "/subjects/h", "/compatibility/subjects/h/versions", "/config/h", "/mode/h"]
    for path in paths:
        for body in bodies:
            method = "PUT" if path.startswith(("/config", "/mode")) else "POST"
            status, answer = registry.ask(method, path, raw=body)
            assert status < 500, (path, body[:80], answer)
    for query in ("limit=x", "offset=99999999999", "deleted=%FF", "subjectPrefix=%ED%A0%80", "limit=-5&offset=-5"):
        assert registry.ask("GET", f"/subjects?{query}")[0] < 500


def test_a_schema_that_is_too_large_is_refused(registry: RegistryProcess) -> None:
    large = {**record("x"), "doc": "x" * 1_100_000}
    assert registry.ask("POST", "/subjects/large/versions", body_of(large))[1]["error_code"] == 42209
    assert registry.ask("POST", "/subjects/large/versions", raw=b" " * (17 << 20))[0] == 413
    assert registry.ask("POST", "/subjects/large/versions", body_of(record("x")))[0] == 200


def test_many_at_once(registry: RegistryProcess) -> None:
    body = json.dumps(body_of(record("many"))).encode()
    registry.ask("POST", "/subjects/many/versions", raw=body)
    reads = [request_bytes("GET", "/subjects/many/versions/1", None, {})] * 400
    writes = [request_bytes("POST", f"/subjects/many-{index % 10}/versions", body, {}) for index in range(100)]
    statuses = [status for status, _ in ask_all(registry.port, [*reads, *writes])]
    assert statuses == [200] * 500


def test_a_slow_sender_holds_nobody_up(registry: RegistryProcess) -> None:
    slow = Connection(registry.port)
    slow.send(request_bytes("POST", "/subjects/slow/versions", None, {"Content-Length": "100"}) + b"{")
    assert registry.ask("POST", "/subjects/slow/versions", body_of(record("x")))[0] == 200
    slow.close()


def test_two_types_of_schema(registry: RegistryProcess) -> None:
    text = 'syntax = "proto3"; package p; message M { string content = 1; string date_time = 2; }'
    number = registry.ask("POST", "/subjects/proto-value/versions", {"schema": text, "schemaType": "PROTOBUF"})[1]["id"]
    shown = registry.ask("GET", f"/schemas/ids/{number}")[1]
    assert (shown["schemaType"], "message M" in shown["schema"]) == ("PROTOBUF", True)
    again = {"schema": shown["schema"], "schemaType": "PROTOBUF"}
    assert registry.ask("POST", "/subjects/proto-value/versions", again)[1]["id"] == number
    serialized = registry.ask("GET", f"/schemas/ids/{number}?format=serialized")[1]["schema"]
    sent = {"schema": serialized, "schemaType": "PROTOBUF"}
    assert registry.ask("POST", "/subjects/proto-value", sent)[1]["id"] == number


class StartedByScript(RegistryProcess):
    """`schema-registry-start FILE`, with a file of four lines as the trainings have it."""

    def __init__(self, directory: Path, cluster: str) -> None:
        super().__init__(directory, "")
        self.file = directory / "schema-registry.properties"
        lines = (f"listeners=http://0.0.0.0:{self.port}", cluster, "kafkastore.topic=_schemas", "debug=false")
        self.file.write_text("".join(f"{line}\n" for line in lines))

    def command_line(self) -> list[str]:
        return [str(Path(sys.executable).parent / "schema-registry-start"), str(self.file)]


def test_the_trainings_file_starts_a_registry(kafka: Server, tmp_path: Path) -> None:
    old = StartedByScript(tmp_path / "old", "kafkastore.connection.url=localhost:2181").start(wait=False)
    assert old.wait() == 1
    assert "kafkastore.bootstrap.servers" in old.output()
    cluster = f"kafkastore.bootstrap.servers=PLAINTEXT://{kafka.bootstrap}"
    registry = StartedByScript(tmp_path / "new", f"{cluster}\nkafkastore.topci=mistyped")
    try:
        registry.start()
        assert "unknown configuration kafkastore.topci (did you mean kafkastore.topic?)" in registry.output()
        assert registry.ask("GET", "/config") == (200, {"compatibilityLevel": "BACKWARD"})
        assert registry.stop() == 0
    finally:
        registry.kill()


def test_a_topics_subjects_by_http(registry: RegistryProcess) -> None:
    topic = {"resourceName": "told", "resourceNamespace": "ns", "resourceId": "told/1"}
    wanted = {**topic, "associations": [{"schema": body_of(record("x"))}]}
    subject, path = ":.ns:told-value", "/associations/resources/told%2F1"
    status, made = registry.ask("POST", "/associations?dryRun=true", wanted)
    assert (status, made) == (200, {**topic, "resourceType": "topic"})
    assert registry.ask("GET", path) == (200, [])
    status, made = registry.ask("POST", "/associations", wanted)
    assert status == 200
    assert made["associations"][0]["schema"]["version"] == 1
    status, found = registry.ask("GET", f"{path}?associationType=value&lifecycle=STRONG")
    assert (status, [each["subject"] for each in found]) == (200, [subject])
    assert registry.ask("GET", f"/associations/subjects/{subject}")[1] == found
    assert registry.ask("GET", "/associations/resources/-/told")[1] == found
    assert registry.ask("GET", f"{path}?associationType=key")[1] == []
    assert registry.ask("PUT", path, {**topic, "associations": [{"lifecycle": "STRONG"}]})[0] == 200
    assert registry.ask("DELETE", f"/subjects/{subject}")[1]["error_code"] == 40904
    queries = {"requests": [{"resourceId": topic["resourceId"]}, {}]}
    status, answer = registry.ask("POST", "/associations:batchGet?includeSchemas=true", queries)
    assert status == 207
    assert answer["results"][0]["result"]["associations"] == made["associations"]
    assert answer["results"][1]["error"]["error_code"] == 500
    gone = {**topic, "associations": [{"opType": "DELETE"}]}
    status, answer = registry.ask("POST", "/associations:batch", {"requests": [gone]})
    assert (status, answer["results"][0]["error"]["error_code"]) == (207, 40908)
    assert registry.ask("DELETE", f"{path}?cascadeLifecycle=true")[0] == 204
    assert registry.ask("DELETE", path)[1]["error_code"] == 40410
    assert registry.ask("GET", f"/subjects/{subject}/versions")[0] == 404


def test_a_cluster_that_is_not_there_is_named() -> None:
    settings = ["-X", "kafkastore.init.timeout.ms=1500", "-b", "127.0.0.1:1", "-l", "127.0.0.1:0"]
    command = [sys.executable, "-m", "ottla.cli.main", "registry", *settings]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "FATAL Exiting: the topic _schemas was not read within 1.5 s: " in done.stdout
    assert "127.0.0.1:1" in done.stdout.splitlines()[-2]


def test_a_topic_that_would_lose_schemas_is_refused(kafka: Server) -> None:
    with Admin(bootstrap_servers=kafka.bootstrap) as admin:
        admin.create_topics([NewTopic("_lossy", 1, 1), NewTopic("_split", 2, 1, configs={"cleanup.policy": "compact"})])
    for topic, reason in (
        ("_lossy", "cleanup.policy=delete, so schemas would be lost"),
        ("_split", "has 2 partitions"),
    ):
        settings = ["-X", f"kafkastore.topic={topic}", "-b", kafka.bootstrap, "-l", "127.0.0.1:0"]
        command = [sys.executable, "-m", "ottla.cli.main", "registry", *settings]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 1
        assert reason in done.stdout


def test_tags_are_added_found_and_kept(registry: RegistryProcess) -> None:
    entity = {"entityPath": "R.x", "entityType": "sr_field"}
    place = "/subjects/tagged/versions"
    registry.ask("POST", place, body_of(record("x")))
    status, made = registry.ask(
        "POST", f"{place}/latest/tags", {"tagsToAdd": [{"schemaEntity": entity, "tags": ["PII"]}]}
    )
    assert (status, made["version"], made["metadata"]["properties"]) == (200, 2, {"confluent:version": "2"})
    tags = [{"schemaEntity": entity, "tags": ["PII"]}]
    assert registry.ask("GET", f"{place}/2?findTags=*")[1]["schemaTags"] == tags
    assert registry.ask("GET", f"/schemas/ids/{made['id']}?findTags=PII")[1]["schemaTags"] == tags
    assert "schemaTags" not in registry.ask("GET", f"{place}/2?findTags=OTHER")[1]
    assert registry.ask("POST", f"{place}/7/tags", {"tagsToAdd": tags})[1]["error_code"] == 40402
    assert registry.ask("POST", "/subjects/none/versions/1/tags", {"tagsToAdd": tags})[1]["error_code"] == 40401
