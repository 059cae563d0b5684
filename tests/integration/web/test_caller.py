"""A REST proxy whose requests act with their caller's rights, on a cluster with TLS, log-in and rules."""

import time
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ottla.client import Admin, NewTopic
from ottla.protocol.acl import AclOperation, AclResourceType
from tests.clients.patience import until
from tests.integration.security.secured_node import SecuredNode
from tests.integration.security.test_authorization import GUARDED, allow
from tests.integration.security.test_clients import unsigned
from tests.integration.web.rest_process import RestProcess, type_of

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_USERS = 'username="broker" password="x" user_broker="x" user_alice="secret" user_bob="other" user_proxy="own"'
REFUSED = (403, 40301)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    """Alice may use one topic and one group, bob another topic; the proxy itself may see all of them."""
    users = {"listener.name.sasltls.plain.sasl.jaas.config": f"{_PLAIN} {_USERS};"}
    with SecuredNode(tmp_path_factory.mktemp("guarded"), **GUARDED, **users) as found:
        with Admin(bootstrap_servers=found.address("PLAINTEXT", "127.0.0.1")) as admin:
            admin.create_topics([NewTopic("hers", 1, 1), NewTopic("his", 1, 1)])
        for user, topic in (("alice", "hers"), ("bob", "his")):
            allow(found, AclOperation.ALL, AclResourceType.TOPIC, topic, user=user)
        for user in ("alice", "bob"):
            allow(found, AclOperation.READ, AclResourceType.GROUP, "readers", user=user)
        allow(found, AclOperation.ALL, AclResourceType.TOPIC, "*", user="proxy")
        yield found


def proxy(node: SecuredNode, directory: Path, method: str, mechanism: str, module: str) -> RestProcess:
    settings = {
        "client_security_protocol": "SASL_SSL",
        "client_sasl_mechanism": mechanism,
        "client_sasl_jaas_config": module,
        "client_ssl_truststore_location": str(node.authority.certificate),
        "authentication_method": method,
        "confluent_rest_auth_propagate_method": "JETTY_AUTH",
    }
    return RestProcess(directory, node.address("SASLTLS"), **settings)


@pytest.fixture(scope="module")
def rest(node: SecuredNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestProcess]:
    module = f'{_PLAIN} username="proxy" password="own";'
    process = proxy(node, tmp_path_factory.mktemp("rest"), "BASIC", "PLAIN", module)
    try:
        yield process.start()
    finally:
        process.kill()


def basic(user: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()}


ALICE, BOB = basic("alice", "secret"), basic("bob", "other")


def produce(rest: RestProcess, topic: str, who: dict[str, str]) -> tuple[int, Any]:
    return rest.ask("POST", f"/topics/{topic}", {"records": [{"value": 1}]}, Content_Type=type_of("json"), **who)


def test_each_caller_has_its_own_rights(rest: RestProcess) -> None:
    assert rest.ask("GET", "/topics", **ALICE) == (200, ["hers"])
    assert rest.ask("GET", "/topics", **BOB) == (200, ["his"])
    for who, own, other in ((ALICE, "hers", "his"), (BOB, "his", "hers")):
        assert produce(rest, own, who)[1]["offsets"][0]["error_code"] is None
        assert produce(rest, other, who)[1]["offsets"][0]["error_code"] == 40301
        cluster = rest.ask("GET", "/v3/clusters", **who)[1]["data"][0]["cluster_id"]
        status, answer = rest.ask("GET", f"/v3/clusters/{cluster}/topics/{other}", **who)
        assert (status, answer["error_code"]) == REFUSED
        body = {"value": {"type": "JSON", "data": 1}}
        sent = rest.ask("POST", f"/v3/clusters/{cluster}/topics/{own}/records", body, **_json(who))
        assert (sent[0], sent[1]["error_code"]) == (200, 200)


def _json(who: dict[str, str]) -> dict[str, str]:
    return {"Content_Type": "application/json", **who}


def test_a_callers_consumers_are_its_own(rest: RestProcess) -> None:
    wish = {"name": "c", "format": "json", "auto.offset.reset": "earliest"}
    for who in (ALICE, BOB):
        assert rest.ask("POST", "/consumers/readers", wish, **who)[0] == 200
    path = "/consumers/readers/instances/c"
    assert rest.ask("POST", f"{path}/assignments", _partition("hers"), **ALICE)[0] == 204
    assert rest.ask("POST", f"{path}/assignments", _partition("his"), **BOB)[0] == 204
    assert rest.ask("GET", f"{path}/assignments", **ALICE)[1] == _partition("hers")
    assert rest.ask("POST", f"{path}/positions/beginning", _partition("hers"), **ALICE)[0] == 204

    def read() -> list[str]:
        return [each["topic"] for each in rest.ask("GET", f"{path}/records", Accept=type_of("json"), **ALICE)[1]]

    until(True, lambda: "hers" in read())
    assert rest.ask("DELETE", path, **ALICE)[0] == 204
    assert rest.ask("DELETE", path, **ALICE)[0] == 404
    assert rest.ask("DELETE", path, **BOB)[0] == 204


def _partition(topic: str) -> dict[str, object]:
    return {"partitions": [{"topic": topic, "partition": 0}]}


@pytest.mark.parametrize(
    "who", [{}, basic("alice", "guessed"), basic("alice", ""), basic("", "own"), basic("proxy", ""), basic("eve", "x")]
)
def test_who_the_cluster_does_not_know_is_refused(rest: RestProcess, who: dict[str, str]) -> None:
    status, answer = rest.ask("GET", "/topics", **who)
    assert status == 401
    assert answer["error_code"] in (401, 40101)
    # The proxy lives on, and knows alice still.
    assert rest.ask("GET", "/topics", **ALICE) == (200, ["hers"])
    assert rest.ask("GET", "/healthz")[0] == 200
    assert "guessed" not in rest.output()


@pytest.mark.long
def test_tokens_are_passed_on(node: SecuredNode, tmp_path: Path) -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
    process = proxy(node, tmp_path, "BEARER", "OAUTHBEARER", f'{module} unsecuredLoginStringClaim_sub="proxy";')
    try:
        process.start()

        def topics(token: str) -> tuple[int, Any]:
            return process.ask("GET", "/topics", Authorization=f"Bearer {token}")

        assert topics(unsigned("alice")) == (200, ["hers"])
        assert topics(unsigned("bob")) == (200, ["his"])
        brief = unsigned("bob", life_s=2)
        assert topics(brief)[0] == 200
        time.sleep(2)
        until(401, lambda: topics(brief)[0])
        for wrong in ("", "a.b.c", unsigned("alice", life_s=-60)):
            assert topics(wrong)[0] == 401
    finally:
        process.kill()
