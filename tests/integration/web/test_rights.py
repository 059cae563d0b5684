"""A cluster that refuses: the services' user may not do what clients ask of them, or can't log in."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.client import Admin, NewTopic
from ottla.protocol.acl import AclOperation, AclResourceType
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow
from tests.integration.web.registry_process import RegistryProcess
from tests.integration.web.rest_process import RestProcess, type_of

REFUSED = (403, 40301)


def login(prefix: str, password: str = "secret") -> dict[str, str]:
    """A service's settings with which its clients are alice."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    return {
        f"{prefix}_security_protocol": "SASL_PLAINTEXT",
        f"{prefix}_sasl_mechanism": "PLAIN",
        f"{prefix}_sasl_jaas_config": f'{module} username="alice" password="{password}";',
    }


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("guarded"), **GUARDED) as found:
        with Admin(bootstrap_servers=found.address("PLAINTEXT", "127.0.0.1")) as admin:
            admin.create_topics([NewTopic("hidden", 1, 1), NewTopic("seen", 1, 1)])
        for operation in (AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS):
            allow(found, operation, AclResourceType.TOPIC, "seen")
        yield found


@pytest.fixture(scope="module")
def rest(node: SecuredNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestProcess]:
    process = RestProcess(tmp_path_factory.mktemp("rest"), node.address("SASL"), **login("client"))
    try:
        yield process.start()
    finally:
        process.kill()


def test_produce_is_refused_record_by_record(rest: RestProcess) -> None:
    for topic in ("hidden", "seen", "absent"):
        status, answer = rest.produce(topic, "json", {"value": 1})
        assert (status, answer["offsets"][0]["error_code"]) == (200, 40301)
        assert "uthorization failed" in answer["offsets"][0]["error"]
        entry = {"value": {"type": "JSON", "data": 1}}
        assert rest.v3("POST", f"/topics/{topic}/records", entry)[1]["error_code"] == 40301
        batch = rest.v3("POST", f"/topics/{topic}/records:batch", {"entries": [{"id": "1", **entry}]})[1]
        assert [each["error_code"] for each in batch["failures"]] == [40301]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/topics/hidden", None),
        ("GET", "/topics/hidden/partitions", None),
        ("GET", "/topics/hidden/partitions/0/offset", None),
        ("GET", "/topics/hidden/configs", None),
        ("PUT", "/topics/seen/configs/retention.ms", {"value": "1000"}),
        ("POST", "/topics/seen/configs:alter", {"data": [{"name": "retention.ms", "value": "1"}]}),
        ("PATCH", "/topics/seen", {"partitions_count": 3}),
        ("DELETE", "/topics/seen", None),
        ("POST", "/topics", {"topic_name": "new", "partitions_count": 1}),
        ("GET", "/brokers/1/configs", None),
        ("GET", "/broker-configs", None),
        ("GET", "/acls", None),
        ("GET", "/consumer-groups/theirs", None),
        ("GET", "/consumer-groups/theirs/lags", None),
        ("GET", "/topics/-/partitions/-/reassignment", None),
    ],
)
def test_what_the_user_may_not_do_is_403(rest: RestProcess, method: str, path: str, body: object) -> None:
    status, answer = rest.v3(method, path, body)
    assert (status, answer["error_code"]) == REFUSED
    assert "uthorization failed" in answer["message"]


def test_lists_leave_out_what_the_user_may_not_see(rest: RestProcess) -> None:
    assert rest.ask("GET", "/topics") == (200, ["seen"])
    assert [each["topic_name"] for each in rest.v3("GET", "/topics")[1]["data"]] == ["seen"]
    assert rest.v3("GET", "/consumer-groups")[1]["data"] == []


def test_consumers_hear_of_it_when_they_read(rest: RestProcess) -> None:
    accept = {"Accept": type_of("json")}

    def read(name: str, how: str, body: object, *steps: str) -> tuple[int, int]:
        rest.ask("POST", "/consumers/theirs", {"name": name, "format": "json", "auto.offset.reset": "earliest"})
        consumer = f"/consumers/theirs/instances/{name}"
        for step in (how, *steps):
            assert rest.ask("POST", f"{consumer}/{step}", body)[0] == 204
        status, answer = rest.ask("GET", f"{consumer}/records?timeout=60000", **accept)
        assert answer["message"]
        assert rest.ask("DELETE", consumer)[0] == 204
        return status, answer["error_code"]

    assert read("a", "subscription", {"topics": ["hidden"]}) == REFUSED
    assert read("b", "subscription", {"topics": ["seen"]}) == REFUSED
    for name, topic in (("c", "hidden"), ("d", "seen")):
        partitions = {"partitions": [{"topic": topic, "partition": 0}]}
        assert read(name, "assignments", partitions, "positions/beginning") == REFUSED


def test_who_may_not_know_a_group_does_not_commit_to_it(rest: RestProcess) -> None:
    rest.ask("POST", "/consumers/theirs", {"name": "e", "format": "json"})
    consumer = "/consumers/theirs/instances/e"
    offsets = {"offsets": [{"topic": "seen", "partition": 0, "offset": 0}]}
    for _ in range(2):
        assert rest.ask("POST", f"{consumer}/subscription", {"topics": ["seen"]})[0] == 204
        status, answer = rest.ask("POST", f"{consumer}/offsets", offsets)
        assert (status, answer["error_code"]) == REFUSED
        assert rest.ask("GET", f"{consumer}/records?timeout=60000", Accept=type_of("json"))[0] == 403
    # There is nothing to commit, so nothing is asked of the cluster, as in Confluent's proxy.
    assert rest.ask("POST", f"{consumer}/offsets") == (200, [])
    assert rest.ask("DELETE", consumer)[0] == 204


@pytest.mark.long
def test_a_proxy_that_cannot_log_in_says_so(node: SecuredNode, tmp_path: Path) -> None:
    process = RestProcess(tmp_path, node.address("SASL"), **login("client", "wrong")).start(wait=False)
    try:
        assert process.wait() == 1
        assert "FATAL Exiting: " in process.output()
        assert "uthentication failed" in process.output()
    finally:
        process.kill()


def test_a_registry_says_which_rights_it_lacks(node: SecuredNode, tmp_path: Path) -> None:
    process = RegistryProcess(tmp_path, node.address("SASL"), **login("kafkastore"))
    topic, group = (AclResourceType.TOPIC, "_schemas"), (AclResourceType.GROUP, "schema-registry")
    try:
        # To read is not enough: an instance knows the end by a mark of its own that it reads back.
        for granted in ((), (AclOperation.CREATE, AclOperation.DESCRIBE_CONFIGS, AclOperation.READ)):
            for operation in granted:
                allow(node, operation, *topic)
            process.start(wait=False)
            assert process.wait() == 1
            assert "FATAL Exiting: the topic _schemas: " in process.output()
            assert "needs READ, WRITE and DESCRIBE_CONFIGS" in process.output()
        allow(node, AclOperation.WRITE, *topic)
        allow(node, AclOperation.READ, *group)
        process.start()
        assert process.ask("POST", "/subjects/a/versions", {"schema": '"string"'})[0] == 200
    finally:
        process.kill()
