"""What only a secured server knows: ACLs and delegation tokens, on an Apache Kafka with SASL and an authorizer."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.acl import (
    AccessControlEntry,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
)
from ottla.client.admin.value.token import KafkaPrincipal
from ottla.client.admin.value.topic import NewTopic
from ottla.client.errors import AuthenticationFailedError
from ottla.protocol.errors import DelegationTokenNotFoundError, TopicAuthorizationFailedError
from tests.clients.patience import until
from tests.clients.server import APACHE, CLUSTER_ID, make_server
from tests.kafka.port import free_port

pytestmark = pytest.mark.long

_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


class Secured(NamedTuple):
    """Where to log in."""

    bootstrap: str

    def settings(self, user: str, password: str = "secret") -> dict[str, object]:
        """The settings of a client that is this user."""
        return {
            "bootstrap.servers": self.bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.jaas.config": f'{_LOGIN} username="{user}" password="{password}";',
        }


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    server = make_server(APACHE, tmp_path_factory.mktemp("secured"))
    sasl = free_port()
    endpoints = (
        f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port},SASL://127.0.0.1:{sasl}"
    )
    settings = {
        "listeners": endpoints,
        "advertised.listeners": endpoints,
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
    yield Secured(f"127.0.0.1:{sasl}")
    server.stop()


@pytest.fixture
def admin(secured: Secured) -> Iterator[Admin]:
    with Admin(secured.settings("root")) as admin:
        yield admin


def test_rules_come_and_go(admin: Admin, secured: Secured) -> None:
    pattern = ResourcePattern(ResourceType.TOPIC, "bobs-", PatternType.PREFIXED)
    rule = AclBinding(pattern, AccessControlEntry("User:bob", AclOperation.CREATE))
    denial = AclBinding(
        pattern, AccessControlEntry("User:bob", AclOperation.DELETE, AclPermissionType.DENY, "10.0.0.1")
    )
    with Admin(secured.settings("bob")) as bob:
        with pytest.raises(TopicAuthorizationFailedError):
            bob.create_topics([NewTopic("bobs-topic")])
        admin.create_acls([rule, denial])
        until({rule, denial}, lambda: set(admin.describe_acls()))
        bob.create_topics([NewTopic("bobs-topic")])
    matching = AclBindingFilter(ResourceType.TOPIC, "bobs-topic", PatternType.MATCH, operation=AclOperation.CREATE)
    assert admin.describe_acls(matching) == [rule]
    everything = AclBindingFilter(principal="User:bob")
    deleted = admin.delete_acls([everything])
    assert set(deleted[everything]) == {rule, denial}
    until([], admin.describe_acls)


def test_tokens(admin: Admin) -> None:
    bob = KafkaPrincipal("User", "bob")
    token = admin.create_delegation_token(renewers=[bob], max_lifetime_ms=600_000)
    information = token.information
    assert (str(information.owner), information.renewers) == ("User:root", (bob,))
    assert information.max_timestamp == information.issue_timestamp + 600_000
    assert repr(token.hmac) not in repr(token)
    until([information.token_id], lambda: [one.information.token_id for one in admin.describe_delegation_tokens()])
    assert admin.describe_delegation_tokens([KafkaPrincipal("User", "nobody")]) == []
    assert admin.renew_delegation_token(token.hmac, period_ms=1_000) <= information.max_timestamp
    admin.expire_delegation_token(token.hmac)
    until([], admin.describe_delegation_tokens)
    with pytest.raises(DelegationTokenNotFoundError):
        admin.renew_delegation_token(b"no such token")


def test_a_wrong_password(secured: Secured) -> None:
    with pytest.raises(AuthenticationFailedError):
        Admin(secured.settings("root", "wrong"))
