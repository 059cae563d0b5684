"""Three nodes go from PLAINTEXT to SASL_SSL one after the other, brokers and controllers, while records are written.

As Kafka's manual has it: first everybody listens on both, then nodes speak to each other by the new listeners, then the
old ones go. Once with nodes of ours alone, once with one of Apache Kafka among them.
"""

import asyncio
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from ottla.base.errors import OttlaError
from ottla.client import AsyncConsumer, AsyncProducer
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.client.cluster import cluster_client
from tests.kafka.cluster import CLUSTER_ID, Node
from tests.kafka.peer import require_kafka
from tests.kafka.port import free_port

pytestmark = pytest.mark.long

_PATIENCE_S = 120.0
_TOPIC = "orders"
_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_USERS = 'username="broker" password="x" user_broker="x" user_alice="secret"'
_REPLICATED = {
    "default_replication_factor": "3",
    "min_insync_replicas": "2",
    "offsets_topic_replication_factor": "3",
    "num_partitions": "1",
}


class Change:
    """The nodes, and what each is told in each phase."""

    def __init__(self, directory: Path, peers: tuple[int, ...]) -> None:
        self.authority = Authority(directory, "authority")
        self._certificate = self.authority.sign("localhost", "DNS:localhost", "IP:127.0.0.1")
        self.nodes = [Node(directory / str(number), number, is_peer=number in peers) for number in (1, 2, 3)]
        self._ports = {node.node_id: (free_port(), free_port()) for node in self.nodes}

    def bootstrap(self, phase: int) -> str:
        """What clients connect to."""
        if phase < 3:
            return ",".join(node.bootstrap for node in self.nodes)
        return ",".join(f"localhost:{self._ports[node.node_id][0]}" for node in self.nodes)

    def login(self, phase: int) -> dict[str, object]:
        """What clients are configured with."""
        if phase < 3:
            return {}
        return {
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "PLAIN",
            "sasl_username": "alice",
            "sasl_password": "secret",
            "ssl_truststore_location": self.authority.certificate,
        }

    def configure(self, node: Node, phase: int) -> None:
        """Writes a node's file."""
        secure, controller = self._ports[node.node_id]
        brokers = {"PLAINTEXT": f"127.0.0.1:{node.port}", "SECURE": f"localhost:{secure}"}
        controllers = {"CONTROLLER": f"127.0.0.1:{node.controller_port}", "CSECURE": f"localhost:{controller}"}
        is_new = phase >= 2
        names = [*brokers, *controllers]
        if phase == 0:
            names = ["PLAINTEXT", "CONTROLLER"]
        elif phase == 3:
            names = ["SECURE", "CSECURE"]
        listeners = [f"{name}://{place}" for name, place in (brokers | controllers).items() if name in names]
        own = [name for name in ("CONTROLLER", "CSECURE") if name in names]
        voters = [
            f"{other.node_id}@localhost:{self._ports[other.node_id][1]}"
            if is_new
            else f"{other.node_id}@127.0.0.1:{other.controller_port}"
            for other in self.nodes
        ]
        node.configure(
            listeners=",".join(listeners),
            advertised_listeners=",".join(place for place in listeners if place.partition(":")[0] in brokers),
            listener_security_protocol_map="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,CSECURE:SASL_SSL",
            inter_broker_listener_name="SECURE" if is_new else "PLAINTEXT",
            controller_listener_names=",".join(reversed(own) if is_new else own),
            controller_quorum_voters=",".join(voters),
            ssl_keystore_type="PEM",
            ssl_keystore_location=str(self._certificate.both),
            ssl_truststore_type="PEM",
            ssl_truststore_location=str(self.authority.certificate),
            sasl_enabled_mechanisms="PLAIN",
            sasl_mechanism_inter_broker_protocol="PLAIN",
            sasl_mechanism_controller_protocol="PLAIN",
            connections_max_reauth_ms="8000",
            listener_name_secure_plain_sasl_jaas_config=f"{_PLAIN} {_USERS};",
            listener_name_csecure_plain_sasl_jaas_config=f"{_PLAIN} {_USERS};",
            **_REPLICATED,
        )

    def wait_in_sync(self, phase: int) -> None:
        """Returns once every replica of the topic is in sync, as an operator waits before the next restart."""
        deadline = time.monotonic() + _PATIENCE_S
        while (seen := asyncio.run(self._in_sync(phase))) != 3:
            outputs = "\n".join(f"--- {node.name}\n{node.output()}" for node in self.nodes)
            assert time.monotonic() < deadline, f"{seen} replicas in sync in phase {phase}\n{outputs}"
            time.sleep(0.2)

    async def _in_sync(self, phase: int) -> int:
        try:
            async with cluster_client(self.bootstrap(phase), **self.login(phase)) as client:
                client.want_topics([_TOPIC])
                answers = [await client.request(node.node_id, MetadataRequest(topics=None)) for node in self.nodes]
        except (OttlaError, TimeoutError):
            return 0
        found = []
        for answer in answers:
            assert isinstance(answer, MetadataResponse)
            found += [len(each.partitions[0].isr_nodes) for each in answer.topics if each.name == _TOPIC]
        return min(found, default=0) if len(found) == len(self.nodes) else 0

    def restart_all(self, phase: int) -> None:
        """One node after the other."""
        for node in self.nodes:
            node.stop()
            self.configure(node, phase)
            node.launch()
            # In the middle of the last phase some nodes have the new listeners alone, and all of them have those.
            self.wait_in_sync(phase)


class Writer:
    """Writes numbers as fast as they are acknowledged, in a thread of its own; every one has to be."""

    def __init__(self, bootstrap: str, first: int, settings: dict[str, object]) -> None:
        self.count = first
        self.slowest_s = 0.0
        self._error: BaseException | None = None
        self._settings = {"bootstrap_servers": bootstrap, **settings}
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            asyncio.run(self._write())
        except Exception as error:  # noqa: BLE001 - the test hears it at the end
            self._error = error

    async def _write(self) -> None:
        async with AsyncProducer(**self._settings) as producer:
            while not self._is_over.is_set():
                began_at = time.monotonic()
                await producer.send(_TOPIC, value=b"%d" % self.count)
                self.slowest_s = max(self.slowest_s, time.monotonic() - began_at)
                self.count += 1
                await asyncio.sleep(0.005)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error


async def read(bootstrap: str, count: int, settings: dict[str, object]) -> list[int]:
    found: list[int] = []
    given = {"bootstrap_servers": bootstrap, "group_id": "readers", "auto_offset_reset": "earliest", **settings}
    async with asyncio.timeout(_PATIENCE_S), AsyncConsumer(**given) as consumer:
        consumer.subscribe([_TOPIC])
        while len(found) < count:
            found += [int(record.value) for record in await consumer.poll(timeout=1.0)]
    return found


@pytest.mark.parametrize("peers", [(), (2,)], ids=["ours", "mixed"])
def test_from_plaintext_to_sasl_ssl(tmp_path: Path, peers: tuple[int, ...]) -> None:
    require_openssl()
    if peers:
        require_kafka()
    change = Change(tmp_path, peers)
    try:
        for node in change.nodes:
            change.configure(node, 0)
            node.format(CLUSTER_ID)
            node.launch()
        for node in change.nodes:
            node.wait_until_ready()
        with Writer(change.bootstrap(0), 0, change.login(0)) as writer:
            change.wait_in_sync(0)
            change.restart_all(1)
            change.restart_all(2)
        with Writer(change.bootstrap(3), writer.count, change.login(3)) as secure:
            change.restart_all(3)
        assert secure.count > writer.count > 100
        found = asyncio.run(read(change.bootstrap(3), secure.count, change.login(3)))
        assert found == list(range(secure.count))
        print(f"{secure.count} records, the slowest took {max(writer.slowest_s, secure.slowest_s):.1f} s")
    finally:
        for node in change.nodes:
            node.kill()
