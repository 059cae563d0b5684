"""A directory of Apache Kafka with TLS, users, rights, tokens and quotas opens here, and goes back."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from ottla.broker.config.older import STANDARD_AUTHORIZER
from ottla.client import Consumer, TopicPartition
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
from ottla.client.admin.value.quota import ClientQuotaAlteration, ClientQuotaEntity, QuotaFilterPart
from ottla.client.admin.value.scram import ScramMechanism, UserScramCredentialUpsertion
from ottla.client.admin.value.topic import NewTopic
from ottla.client.errors import AuthenticationFailedError
from tests.clients.patience import until
from tests.clients.server import APACHE, CLUSTER_ID, OTTLA, make_server
from tests.integration.client.certificate import Authority
from tests.kafka.port import free_port
from tests.kafka.server import Server

pytestmark = pytest.mark.long

TIMEOUT_S = 60.0
TOPIC = "orders"
_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"


class Place:
    """One directory, which servers of both kinds serve in turn at the same addresses."""

    def __init__(self, directory: Path) -> None:
        self.authority = Authority(directory, "authority")
        certificate = self.authority.sign("localhost", "DNS:localhost", "IP:127.0.0.1")
        self.secure = free_port()
        theirs = make_server(APACHE, directory / "node")
        ours = make_server(OTTLA, directory / "node")
        ours.port, ours.controller_port = theirs.port, theirs.controller_port
        endpoints = (
            f"PLAINTEXT://127.0.0.1:{theirs.port},CONTROLLER://127.0.0.1:{theirs.controller_port},"
            f"SASLTLS://localhost:{self.secure}"
        )
        ours.configure(**{
            "listeners": endpoints,
            "advertised.listeners": endpoints,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASLTLS:SASL_SSL",
            "inter.broker.listener.name": "PLAINTEXT",
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasltls.scram-sha-512.sasl.jaas.config": f"{_MODULE};",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(certificate.both),
            "authorizer.class.name": STANDARD_AUTHORIZER,
            "super.users": "User:ANONYMOUS",
            "delegation.token.secret.key": "the cluster's",
        })  # fmt: skip
        self.servers = {APACHE: theirs, OTTLA: ours}

    @contextmanager
    def serving(self, kind: str) -> Iterator[Server]:
        server = self.servers[kind]
        server.start()
        try:
            yield server
        finally:
            assert server.stop() in (0, 143)

    def settings(self, user: str, password: str, extra: str = "") -> dict[str, object]:
        """A client's, by log-in over TLS."""
        return {
            "bootstrap.servers": f"localhost:{self.secure}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": f'{_MODULE} username="{user}" password="{password}"{extra};',
            "ssl.truststore.location": str(self.authority.certificate),
        }

    def librdkafka(self, user: str, password: str) -> dict[str, Any]:
        return {
            "bootstrap.servers": f"localhost:{self.secure}",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": password,
            "ssl.ca.location": str(self.authority.certificate),
        }


class Known:
    """What somebody has set up, and anybody must find."""

    def __init__(self) -> None:
        self.users: dict[str, str] = {}
        self.tokens: list[tuple[str, str]] = []
        self.rules: set[AclBinding] = set()
        self.quotas: dict[str, float] = {}
        self.values: list[bytes] = []


def rule(user: str, operation: AclOperation, permission: AclPermissionType = AclPermissionType.ALLOW) -> AclBinding:
    pattern = ResourcePattern(ResourceType.TOPIC, TOPIC, PatternType.LITERAL)
    return AclBinding(pattern, AccessControlEntry(f"User:{user}", operation, permission))


def set_up(place: Place, server: Server, known: Known, user: str) -> None:
    """One more user, with a right, one that is denied, a quota, a token and a record."""
    with Admin({"bootstrap.servers": server.bootstrap}) as operator:
        if not known.users:
            operator.create_topics([NewTopic(TOPIC, 1, 1)])
        operator.alter_user_scram_credentials(
            [UserScramCredentialUpsertion(user, ScramMechanism.SCRAM_SHA_512, f"{user}'s".encode())]
        )
        rules = {rule(user, AclOperation.ALL), rule(user, AclOperation.DELETE, AclPermissionType.DENY)}
        operator.create_acls(sorted(rules, key=repr))
        quota = ClientQuotaAlteration(ClientQuotaEntity.of(user=user), {"producer_byte_rate": 1_000_000.0})
        operator.alter_client_quotas([quota])
        known.users[user], known.quotas[user] = f"{user}'s", 1_000_000.0
        known.rules |= rules
        until(known.rules, lambda: set(operator.describe_acls()))

    def token() -> tuple[str, str] | None:
        try:
            with Admin(place.settings(user, f"{user}'s")) as owner:
                made = owner.create_delegation_token()
        except AuthenticationFailedError:
            return None  # the broker has not heard of the user yet
        return made.information.token_id, base64.b64encode(made.hmac).decode()

    found = None
    while found is None:
        found = token()
    known.tokens.append(found)
    producer = confluent_kafka.Producer(place.librdkafka(user, f"{user}'s"))
    producer.produce(TOPIC, user.encode())
    assert producer.flush(TIMEOUT_S) == 0
    known.values.append(user.encode())


def look(place: Place, server: Server, known: Known) -> None:
    """Everything is there, and counts."""
    with Admin({"bootstrap.servers": server.bootstrap}) as operator:
        until(known.rules, lambda: set(operator.describe_acls()))
        assert set(operator.describe_user_scram_credentials()) == set(known.users)
        for user, rate in known.quotas.items():
            [(_, quotas)] = operator.describe_client_quotas([QuotaFilterPart("user", user)]).items()
            assert quotas == {"producer_byte_rate": rate}
    for token_id, hmac in known.tokens:
        with Admin(place.settings(token_id, hmac, ' tokenauth="true"')) as bearer:
            assert TOPIC in bearer.list_topics()
    with pytest.raises(AuthenticationFailedError):
        Admin(place.settings("nobody", "known"))
    for user, password in known.users.items():
        with Admin(place.settings(user, password)) as one, pytest.raises(Exception, match="uthorization"):
            one.delete_topics([TOPIC])
        assert read(place, user, password, len(known.values)) == known.values


def read(place: Place, user: str, password: str, count: int) -> list[bytes]:
    partition = TopicPartition(TOPIC, 0)
    found: list[bytes] = []
    with Consumer(place.settings(user, password)) as consumer:
        consumer.assign([partition])
        consumer.seek_to_beginning([partition])
        while len(found) < count:
            found += [record.value for record in consumer.poll(TIMEOUT_S)]
    return found


def test_there_and_back(tmp_path: Path) -> None:
    place, known = Place(tmp_path), Known()
    place.servers[APACHE].format(CLUSTER_ID)
    with place.serving(APACHE) as server:
        set_up(place, server, known, "alice")
        look(place, server, known)
    with place.serving(OTTLA) as server:
        look(place, server, known)
        set_up(place, server, known, "bob")
    with place.serving(APACHE) as server:
        look(place, server, known)
        set_up(place, server, known, "carol")
    with place.serving(OTTLA) as server:
        look(place, server, known)
