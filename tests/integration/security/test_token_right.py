"""Who may do what with the delegation tokens of others: at Apache Kafka and at ours."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.client.admin.value.token import DelegationToken, KafkaPrincipal
from tests.clients.patience import until
from tests.clients.server import CLUSTER_ID, kinds_and_peer, make_server
from tests.kafka.port import free_port
from tests.kafka.server import Server

USERS = ("owner", "maker", "renewer", "seer", "looker", "denied", "stranger")
"""The maker may create tokens for the owner, the seer may see the owner's, the looker may see the one, the denied
renewer is denied that."""
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_OWNER = KafkaPrincipal("User", "owner")


class Place:
    """A server with a client for each of the users."""

    def __init__(self, server: Server, port: int, stack: ExitStack) -> None:
        self.operator = stack.enter_context(Admin({"bootstrap.servers": server.bootstrap}))
        self.admins = {user: stack.enter_context(Admin(self._settings(user, port))) for user in USERS}

    @staticmethod
    def _settings(user: str, port: int) -> dict[str, object]:
        return {
            "bootstrap.servers": f"localhost:{port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{_MODULE} username="{user}" password="{user}";',
        }

    def allow(self, user: str, operation: AclOperation, kind: ResourceType, name: str, *, denies: bool = False) -> None:
        permission = AclPermissionType.DENY if denies else AclPermissionType.ALLOW
        rule = AclBinding(
            ResourcePattern(kind, name, PatternType.LITERAL), AccessControlEntry(f"User:{user}", operation, permission)
        )
        self.operator.create_acls([rule])
        until(True, lambda: rule in self.operator.describe_acls())

    def outcomes(self, ask: Callable[[Admin], object]) -> dict[str, str]:
        """Each user's error, or none."""
        return {user: outcome(lambda admin=admin: ask(admin)) for user, admin in self.admins.items()}  # type: ignore[misc]

    def seen(self, owners: list[KafkaPrincipal] | None) -> set[str]:
        """Who sees any token."""
        return {user for user, admin in self.admins.items() if admin.describe_delegation_tokens(owners)}


def outcome(ask: Callable[[], object]) -> str:
    try:
        ask()
    except OttlaError as error:
        return type(error).__name__
    return ""


@pytest.fixture(params=kinds_and_peer())
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    server = make_server(request.param, tmp_path / "node")
    port = free_port()
    endpoints = (
        f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port},SASL://localhost:{port}"
    )
    users = " ".join(f'user_{user}="{user}"' for user in USERS)
    server.configure(**{
        "listeners": endpoints,
        "advertised.listeners": endpoints,
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.sasl.plain.sasl.jaas.config": f"{_MODULE} {users};",
        "authorizer.class.name": STANDARD_AUTHORIZER,
        "super.users": "User:ANONYMOUS",
        "delegation.token.secret.key": "the cluster's",
    })  # fmt: skip
    server.format(CLUSTER_ID)
    server.start()
    with ExitStack() as stack:
        stack.callback(server.stop)
        yield Place(server, port, stack)


def test_rights_on_the_tokens_of_others(place: Place) -> None:
    place.allow("maker", AclOperation.CREATE_TOKENS, ResourceType.USER, "User:owner")
    place.allow("seer", AclOperation.DESCRIBE_TOKENS, ResourceType.USER, "User:owner")
    token = created(place)
    place.allow("looker", AclOperation.DESCRIBE, ResourceType.DELEGATION_TOKEN, token.information.token_id)
    place.allow("denied", AclOperation.DESCRIBE_TOKENS, ResourceType.USER, "User:owner", denies=True)

    helpers = {"owner", "maker", "renewer", "denied"}
    seeing = helpers | {"seer", "looker"}
    until(seeing, lambda: place.seen(None))
    # To be asked about are those who may renew a token, too.
    for user in helpers:
        assert place.seen([KafkaPrincipal("User", user)]) == seeing
    assert place.seen([KafkaPrincipal("User", "stranger")]) == set()
    assert place.seen([]) == set()

    # Who asked for a token may see it, and no more.
    mismatch = {user: "" if user in helpers - {"maker"} else "DelegationTokenOwnerMismatchError" for user in USERS}
    assert place.outcomes(lambda admin: admin.renew_delegation_token(token.hmac)) == mismatch
    later = place.outcomes(lambda admin: admin.expire_delegation_token(token.hmac, period_ms=3_600_000))
    assert later == mismatch
    unknown = place.outcomes(lambda admin: admin.renew_delegation_token(b"unknown"))
    assert set(unknown.values()) == {"DelegationTokenNotFoundError"}


def created(place: Place) -> DelegationToken:
    """The token that the maker makes for the owner, which others may not."""
    renewers = [KafkaPrincipal("User", "renewer"), KafkaPrincipal("User", "denied")]
    found: dict[str, DelegationToken] = {}

    def ask(admin: Admin) -> None:
        token = admin.create_delegation_token(owner=_OWNER, renewers=renewers)
        found["maker" if admin is place.admins["maker"] else "owner"] = token

    refused = "DelegationTokenAuthorizationFailedError"
    assert place.outcomes(ask) == {user: "" if user in ("owner", "maker") else refused for user in USERS}
    made = found["maker"].information
    assert (made.owner.name, made.requester.name) == ("owner", "maker")
    owner, own = place.admins["owner"], found["owner"]
    # A controller of Apache Kafka hears of its own tokens a little later.
    until("", lambda: outcome(lambda: owner.expire_delegation_token(own.hmac)))
    until("", lambda: outcome(lambda: owner.expire_delegation_token(found["maker"].hmac, period_ms=3_600_000)))
    return found["maker"]
