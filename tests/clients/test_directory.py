"""A data directory that Apache Kafka wrote is served by ours, and one of ours by Apache Kafka, and back again.

Records, topics with their ids, configs, producers' state and users go along.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, TopicCollection
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.record import CODECS, Record, tricky_records
from tests.clients.server import APACHE, CLUSTER_ID, OTTLA, kinds, make_server
from tests.clients.topic import create_with
from tests.kafka.server import Server

pytestmark = pytest.mark.client("Apache Kafka 4.3.1's data directory")
ORDERS = [(APACHE, OTTLA, APACHE), (OTTLA, APACHE, OTTLA)] if OTTLA in kinds() else [(APACHE, APACHE, APACHE)]

ALICE = UserScramCredentialUpsertion(
    "alice", ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 5_000), b"secret", b"salt"
)


class Directory:
    """One data directory, served by one server after the other on the same ports."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._ports: tuple[int, int] | None = None
        self._server: Server | None = None

    def serve(self, kind: str) -> Server:
        """Hands the directory over to a server of another kind, which must take it as it is."""
        self.stop()
        server = make_server(kind, self._path)
        if self._ports is None:
            server.format(CLUSTER_ID)
        else:
            server.port, server.controller_port = self._ports
            server.configure()
        self._ports = server.port, server.controller_port
        self._server = server
        server.start()
        return server

    def stop(self) -> None:
        """Stops the server cleanly."""
        if self._server is not None:
            assert self._server.stop() in (0, 143), self._server.output()
            self._server = None


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Directory]:
    shared = Directory(tmp_path)
    yield shared
    shared.stop()


@pytest.mark.parametrize("order", ORDERS, ids="-".join)
def test_handed_over_and_back(directory: Directory, order: tuple[str, str, str]) -> None:
    """records in every codec, topic ids, configs, producers and users survive a change of server and back"""
    written: dict[str, list[Record]] = {codec: [] for codec in CODECS}
    ids: list[dict[str, str]] = []
    for turn, kind in enumerate(order):
        server = directory.serve(kind)
        admin = AdminClient({"bootstrap.servers": server.bootstrap})
        if turn == 0:
            for codec in CODECS:
                create_with(admin, NewTopic(codec, 1, 1, config={"retention.ms": "-1", "segment.bytes": "1048576"}))
            admin.alter_user_scram_credentials([ALICE])["alice"].result(30)
        ids.append(topic_ids(admin))
        until([5_000], lambda client=admin: iterations_of_alice(client))
        for codec, records in written.items():
            assert confluent.read(server.bootstrap, codec, len(records)) == records
            more = tricky_records()
            offsets = confluent.write(server.bootstrap, codec, more, compression_codec=codec, enable_idempotence=True)
            assert offsets == list(range(len(records), len(records) + len(more)))
            records += more
            assert confluent.read(server.bootstrap, codec, len(records)) == records
            assert topic_config(admin, codec, "retention.ms") == "-1"
    assert ids[0] == ids[1] == ids[2]


def topic_ids(admin: AdminClient) -> dict[str, str]:
    """The id of each topic."""
    futures = admin.describe_topics(TopicCollection(list(CODECS)))
    return {topic: str(future.result(30).topic_id) for topic, future in futures.items()}


def iterations_of_alice(admin: AdminClient) -> list[int]:
    """Her credentials' iterations; none if nobody knows her yet."""
    future = admin.describe_user_scram_credentials(["alice"])["alice"]
    return [] if future.exception(30) else [info.iterations for info in future.result().scram_credential_infos]


def topic_config(admin: AdminClient, topic: str, name: str) -> str:
    """A setting of a topic."""
    [future] = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]).values()
    value: str = future.result(30)[name].value
    return value


@pytest.mark.parametrize("order", [order[:2] for order in ORDERS], ids="-".join)
def test_handed_over_after_a_kill(directory: Directory, order: tuple[str, str]) -> None:
    """what one server had acknowledged when it was killed, the other serves; a deleted topic stays deleted"""
    server = directory.serve(order[0])
    records = tricky_records()
    confluent.write(server.bootstrap, "killed", records, acks="all")
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    create_with(admin, NewTopic("deleted", 1, 1))
    admin.delete_topics(["deleted"])["deleted"].result(30)
    server.kill()

    server = directory.serve(order[1])
    assert confluent.read(server.bootstrap, "killed", len(records)) == records
    admin = AdminClient({"bootstrap.servers": server.bootstrap})
    [future] = admin.describe_topics(TopicCollection(["deleted"])).values()
    error = future.exception(30)
    assert error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
