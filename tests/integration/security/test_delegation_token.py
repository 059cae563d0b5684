"""Delegation tokens by `kafka-delegation-tokens` and our client: issued, used, renewed, ended, and refused."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.token import KafkaPrincipal
from ottla.client.errors import AuthenticationFailedError
from ottla.protocol.errors import (
    DelegationTokenAuthorizationFailedError,
    DelegationTokenOwnerMismatchError,
    DelegationTokenRequestNotAllowedError,
)
from tests.clients.client.java import Outcome
from tests.clients.patience import until
from tests.integration.cli.side_by_side import run_tool
from tests.integration.security.scram import SCRAM
from tests.integration.security.secured_node import SecuredNode

BOB = KafkaPrincipal("User", "bob")
SETTINGS = {
    "delegation.token.secret.key": "the cluster's",
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:ANONYMOUS",
    "listener.name.sasl.plain.sasl.jaas.config": (
        "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="broker" password="x" user_alice="secret" user_bob="hidden" user_eve="evil";'
    ),
}


class Made(NamedTuple):
    """A token that the tool has made."""

    token_id: str
    hmac: str


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredNode]:
    with SecuredNode(tmp_path_factory.mktemp("tokens"), **SETTINGS) as found:
        yield found


def by_scram(node: SecuredNode, login: str) -> dict[str, str]:
    """The settings of a client that logs in by SCRAM."""
    return {
        "bootstrap.servers": node.address("SASL"),
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f"{SCRAM} {login};",
    }


def by_plain(node: SecuredNode, user: str, password: str) -> dict[str, object]:
    """The settings of a client that logs in with a password."""
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    login = f'{module} username="{user}" password="{password}";'
    return {**by_scram(node, ""), "sasl.mechanism": "PLAIN", "sasl.jaas.config": login}


def with_token(node: SecuredNode, token: Made) -> dict[str, object]:
    """The settings of a client that logs in with a token."""
    return dict(by_scram(node, f'username="{token.token_id}" password="{token.hmac}" tokenauth="true"'))


class Tool:
    """The tool, run as alice."""

    def __init__(self, node: SecuredNode, directory: Path) -> None:
        self._node = node
        self._config = directory / "alice.properties"
        settings = by_scram(node, 'username="alice" password="secret"')
        self._config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))

    def __call__(self, *arguments: str) -> Outcome:
        to = ("--bootstrap-server", self._node.address("SASL"), "--command-config", str(self._config))
        return run_tool("delegation_tokens", *to, *arguments)

    def create(self) -> Made:
        made = self("--create", "--max-life-time-period", "600000", "--renewer-principal", "User:bob")
        assert made.code == 0, made
        token_id, hmac, owner, requester, renewers, *_ = made.out.splitlines()[-1].split()
        assert (owner, requester, renewers) == ("User:alice", "User:alice", "[User:bob]")
        return Made(token_id, hmac)


@pytest.fixture
def tool(node: SecuredNode, tmp_path: Path) -> Tool:
    return Tool(node, tmp_path)


def count(tool: Tool) -> str:
    return tool("--describe").out.splitlines()[1]


def test_a_tokens_life(node: SecuredNode, tool: Tool) -> None:
    token = tool.create()
    until("Total number of tokens : 1", lambda: count(tool))
    with Admin(with_token(node, token)) as admin:
        assert admin.describe_cluster().nodes
        with pytest.raises(DelegationTokenRequestNotAllowedError):
            admin.create_delegation_token()
        with pytest.raises(DelegationTokenRequestNotAllowedError):
            admin.describe_delegation_tokens()
    renewed = tool("--renew", "--hmac", token.hmac, "--renew-time-period", "300000")
    assert (renewed.code, "Completed renew operation. New expiry date : " in renewed.out) == (0, True)
    ended = tool("--expire", "--hmac", token.hmac, "--expiry-time-period", "-1")
    assert (ended.code, "Completed expire operation. New expiry date : " in ended.out) == (0, True)
    until("Total number of tokens : 0", lambda: count(tool))
    with pytest.raises(AuthenticationFailedError):
        Admin(with_token(node, token))
    gone = tool("--renew", "--hmac", token.hmac, "--renew-time-period", "-1")
    assert (gone.code, gone.err.partition(":")[0]) == (
        1,
        "org.apache.kafka.common.errors.DelegationTokenNotFoundException",
    )


def test_others_do_what_they_may(node: SecuredNode, tool: Tool) -> None:
    token = tool.create()
    hmac = base64.b64decode(token.hmac)
    with Admin(by_plain(node, "bob", "hidden")) as bob:
        assert bob.renew_delegation_token(hmac, period_ms=5_000) > 0
        until([token.token_id], lambda: [one.information.token_id for one in bob.describe_delegation_tokens()])
    with Admin(by_plain(node, "eve", "evil")) as eve:
        with pytest.raises(DelegationTokenOwnerMismatchError):
            eve.expire_delegation_token(hmac)
        with pytest.raises(DelegationTokenAuthorizationFailedError):
            eve.create_delegation_token(owner=BOB)
        assert eve.describe_delegation_tokens() == []
    nobody = Admin({"bootstrap.servers": node.address("PLAINTEXT", "127.0.0.1")})
    with nobody, pytest.raises(DelegationTokenRequestNotAllowedError):
        nobody.create_delegation_token()
