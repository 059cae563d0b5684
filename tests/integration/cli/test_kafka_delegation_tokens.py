"""`kafka-delegation-tokens` beside Kafka's own DelegationTokenCommand, on an Apache Kafka and a node of ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.clients.server import APACHE, CLUSTER_ID, OTTLA, make_server
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.port import free_port

pytestmark = pytest.mark.long

_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_NEW = r"(?<!\S)[-_A-Za-z0-9]{22}(?!\S) *|[A-Za-z0-9+/]{86}== *|\d{4}-\d\d-\d\dT\d\d:\d\d"
"""What no two tokens share: ids, HMACs, times."""


class Tokens(NamedTuple):
    """Both tools, logged in as root."""

    tools: SideBySide
    to: tuple[str, ...]


@pytest.fixture(scope="module", params=[APACHE, OTTLA])
def tokens(
    request: pytest.FixtureRequest, java_tools: ToolHost, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tokens]:
    place = tmp_path_factory.mktemp("tokens")
    server = make_server(str(request.param), place)
    sasl = free_port()
    listeners = (
        f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port},SASL://127.0.0.1:{sasl}"
    )
    settings = {
        "listeners": listeners,
        "advertised.listeners": listeners,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:root",
        "delegation.token.secret.key": "key",
        "listener.name.sasl.plain.sasl.jaas.config": f'{_LOGIN} user_root="secret" user_bob="secret";',
    }
    server.configure(**settings)
    server.format(CLUSTER_ID)
    server.start()
    for user in ("root", "bob"):
        login = f'sasl.jaas.config={_LOGIN} username="{user}" password="secret";'
        (place / user).write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{login}\n")
    to = ("--bootstrap-server", f"127.0.0.1:{sasl}", "--command-config", str(place / "root"))
    yield Tokens(SideBySide(java_tools, server, "DelegationTokenCommand", "delegation_tokens"), to)
    server.stop()


def test_a_tokens_life(tokens: Tokens) -> None:
    tools, to = tokens
    made = tools.same(*to, "--create", "--max-life-time-period", "-1", normal=_NEW)
    assert made.code == 0, made
    renewed = ("--renewer-principal", "User:bob", "--renewer-principal", " User:eve")
    tools.same(*to, "--create", "--max-life-time-period", "600000", *renewed, normal=_NEW)
    tools.same(*to, "--create", "--max-life-time-period", "600000", "--owner-principal", "User:bob", normal=_NEW)
    until(True, lambda: "tokens : 6" in tools.ours(*to, "--describe").out)
    # Kafka's tool says in its help that it shows one's own tokens then, but asks for those of an empty list of owners.
    assert "tokens : 0" in tools.java(*to, "--describe").out
    for owner in ("root", "bob", "eve", "nobody"):
        tools.same_lines(*to, "--describe", "--owner-principal", f"User:{owner}")
    listed = tools.ours(*to, "--describe", "--owner-principal", "User:eve").out.splitlines()[3:]
    hmac = next(line.split()[1] for line in listed if line)
    for period in ("1000", "-1"):
        tools.same(*to, "--renew", "--hmac", hmac, "--renew-time-period", period, normal=_NEW)
    tools.same(*to, "--expire", "--hmac", hmac, "--expiry-time-period", "300000", normal=_NEW)
    bob = (*to[:3], str(Path(to[3]).with_name("bob")))
    tools.same(*bob, "--renew", "--hmac", hmac, "--renew-time-period", "-1", normal=_NEW)
    tools.same_lines(*bob, "--describe", "--owner-principal", "User:bob")
    refused = tools.same(*bob, "--create", "--max-life-time-period", "-1", "--owner-principal", "User:root")
    assert refused.code == 1
    assert "DelegationTokenAuthorizationException" in refused.err


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "--create",
        "--create --renew",
        "--create --max-life-time-period 5 --renewer-principal bob",
        "--create --max-life-time-period 5 --renewer-principal Group:bob",
        "--create --max-life-time-period 5 --hmac YQ==",
        "--renew --hmac YQ==",
        "--renew --hmac YQ== --renew-time-period 5",
        "--expire --hmac YQ== --expiry-time-period 5",
        "--expire --hmac YQ== --expiry-time-period 5 --max-life-time-period 5",
        "--describe --hmac YQ==",
        "--foo",
    ],
)
def test_refusals(tokens: Tokens, wrong: str) -> None:
    tokens.tools.same(*tokens.to, *wrong.split())


def test_without_log_in(tokens: Tokens, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    to = ("--bootstrap-server", "{broker}", "--command-config", str(tmp_path / "plain"))
    for wish in ("--describe", "--create --max-life-time-period -1", "--renew --hmac YQ== --renew-time-period 5"):
        refused = tokens.tools.same(*to, *wish.split())
        assert "UnsupportedByAuthenticationException" in refused.err
    tokens.tools.same("--bootstrap-server", "{broker}", "--describe")
