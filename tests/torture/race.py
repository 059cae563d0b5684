"""Work that has a node's threads meet: topics made and deleted, settings altered, groups, transactions, moves.

Each churn is a thread that does the same thing over and over until it is told to stop. What a node refuses is counted:
this is not about answers but about the node, which has to live through it.
"""

import itertools
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from ottla.base.errors import OttlaError
from ottla.client import Admin
from ottla.client.admin.value.replica import TopicPartitionReplica
from tests.kafka.cluster import Cluster
from tests.torture.ending import admin_client
from tests.torture.operator import partitions

_ASK_SECONDS: Final = 10
_COMPACT: Final = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "200"}
_DELETE: Final = {"cleanup.policy": "delete", "retention.bytes": "4096", "retention.ms": "1000"}
_SMALL: Final = {"segment.ms": "100", "segment.bytes": "1048576", "file.delete.delay.ms": "100"}
STEADY: Final = {
    "compacted": _COMPACT | _SMALL,
    "expired": _DELETE | _SMALL,
    "plain": dict(_SMALL),
    "cut": dict(_SMALL),
}
"""Topics that stay and are written to, with their settings."""
_WIDE: Final = 200
"""Partitions of a topic that only makes lists of all logs long: a collection begins within one more often."""


class Churn:
    """A thread that does one thing again and again, from the beginning of a block to its end."""

    def __init__(self, cluster: Cluster, seed: int, events: Counter[str]) -> None:
        self._cluster = cluster
        self._bootstrap = cluster.bootstrap
        self._dice = random.Random(f"{type(self).__name__}-{seed}")
        self._events = events
        self._stopping = threading.Event()
        self._admin: AdminClient = admin_client(cluster.bootstrap)
        self._numbers = itertools.count()
        self._thread = threading.Thread(target=self._run, name=type(self).__name__)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._try(type(self).__name__, self._turn)

    def _turn(self) -> None:
        raise NotImplementedError

    def _try(self, name: str, work: Callable[[], Any]) -> None:
        try:
            work()
        except (KafkaException, OttlaError):
            self._events[f"{name} failed"] += 1
        else:
            self._events[name] += 1

    def _alter(self, kind: ResourceType, name: str, settings: dict[str, str | None]) -> None:
        entries = [
            ConfigEntry(key, value, incremental_operation=_SET if value is not None else _UNSET)
            for key, value in settings.items()
        ]
        resource = ConfigResource(kind, name, incremental_configs=entries)
        wait(self._admin.incremental_alter_configs([resource], request_timeout=_ASK_SECONDS))


_topics = itertools.count()
_SET, _UNSET = AlterConfigOpType.SET, AlterConfigOpType.DELETE


class Topics(Churn):
    """Makes topics, writes to them, alters their settings and deletes them."""

    _KEPT: Final = 6

    def __init__(self, cluster: Cluster, seed: int, events: Counter[str]) -> None:
        super().__init__(cluster, seed, events)
        self._there: list[str] = []
        self._producer = Producer({"bootstrap.servers": self._bootstrap, "log_level": 0, "acks": "1"})

    def _turn(self) -> None:
        made = [f"churn-{next(_topics)}" for _ in range(3)]
        wanted = [
            NewTopic(name, 6, len(self._cluster.nodes), config=self._dice.choice((_COMPACT, _DELETE, {})) | _SMALL)
            for name in made
        ]
        wait(self._admin.create_topics(wanted, request_timeout=_ASK_SECONDS))
        self._there += made
        for name in made:
            for partition in range(3):
                self._producer.produce(name, bytes(500), key=b"%d" % partition, partition=partition)
        self._producer.poll(0)
        for name in self._dice.sample(self._there, 2):
            policy = self._dice.choice(("compact", "delete", "compact,delete"))
            self._alter(ResourceType.TOPIC, name, {"cleanup.policy": policy})
        gone, self._there = self._there[: -self._KEPT], self._there[-self._KEPT :]
        if gone:
            wait(self._admin.delete_topics(gone, request_timeout=_ASK_SECONDS))


class Settings(Churn):
    """Alters the settings of topics that are written to, and a node's defaults."""

    def _turn(self) -> None:
        name = self._dice.choice([*STEADY, "__consumer_offsets"])
        self._alter(ResourceType.TOPIC, name, {"max.message.bytes": str(self._dice.randrange(500_000, 900_000))})
        number = next(self._numbers)
        if number % 3 == 0:
            node = self._dice.choice(self._cluster.nodes)
            self._alter(
                ResourceType.BROKER, str(node.node_id), {"log.retention.ms": str(self._dice.randrange(10**6, 10**9))}
            )
        if number % 3 == 1:
            # Rounds of compaction end halfway, and what was compacted is deleted.
            policy = "delete" if self._dice.random() < 0.5 else "compact"
            self._alter(ResourceType.TOPIC, "compacted", {"cleanup.policy": policy})


class Writing(Churn):
    """Writes to the topics that stay, so that segments roll, age and are compacted; deletes records."""

    def __init__(self, cluster: Cluster, seed: int, events: Counter[str]) -> None:
        super().__init__(cluster, seed, events)
        settings = {"bootstrap.servers": self._bootstrap, "log_level": 0, "enable.idempotence": True, "linger.ms": 5}
        self._producer = Producer(settings)

    def _turn(self) -> None:
        for topic in STEADY:
            for number in range(20):
                self._producer.produce(topic, bytes(300), key=b"%d" % number)
        self._producer.flush(1)
        if next(self._numbers) % 10 == 0:
            places = [TopicPartition("cut", index, -1) for index in range(3)]
            self._try("deletions of records", lambda: wait(self._admin.delete_records(places)))


class Transactions(Churn):
    """Commits and aborts, offsets of a group with some of them; transactional ids come and go."""

    def _turn(self) -> None:
        name = f"transactional-{next(self._numbers)}"
        settings = {"bootstrap.servers": self._bootstrap, "log_level": 0, "transactional.id": name}
        producer = Producer(settings)
        producer.init_transactions(_ASK_SECONDS)
        group = Consumer({"bootstrap.servers": self._bootstrap, "group.id": name})
        for _ in range(3):
            producer.begin_transaction()
            for topic in ("compacted", "plain"):
                producer.produce(topic, bytes(200), key=b"transactional")
            if self._dice.random() < 0.5:
                offsets = [TopicPartition("plain", 0, self._dice.randrange(1_000))]
                producer.send_offsets_to_transaction(offsets, group.consumer_group_metadata(), _ASK_SECONDS)
            end = producer.commit_transaction if self._dice.random() < 0.7 else producer.abort_transaction
            end(_ASK_SECONDS)
        group.close()


class Groups(Churn):
    """Members of groups of both protocols, which join, read, commit and leave; their groups are deleted."""

    def _turn(self) -> None:
        number = next(self._numbers)
        name = f"group-{number}"
        modern = {"group.protocol": "consumer"}
        classic = {"session.timeout.ms": 6_000}
        settings: dict[str, Any] = {
            "bootstrap.servers": self._bootstrap,
            "group.id": name,
            "log_level": 0,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            **(modern if number % 2 else classic),
        }
        member = Consumer(settings)
        member.subscribe([*STEADY, "^churn-.*"])
        for _ in range(5):
            member.consume(500, timeout=0.1)
        if member.assignment():
            member.commit(asynchronous=False)
        member.close()
        wait(self._admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(name)]))
        wait(self._admin.delete_consumer_groups([name], request_timeout=_ASK_SECONDS))


class Moves(Churn):
    """Moves replicas between the log directories of their nodes, and looks at what is where."""

    def _run(self) -> None:
        quick = {"request_timeout_ms": 5_000, "default_api_timeout_ms": 10_000}
        with Admin(bootstrap_servers=self._bootstrap, **quick) as admin:
            while not self._stopping.is_set():
                self._try("Moves", lambda: self._move(admin))

    def _move(self, admin: Admin) -> None:
        some = partitions(admin)
        node = self._dice.choice(self._cluster.nodes)
        moves = {
            TopicPartitionReplica(one.topic, one.partition, node.node_id): str(self._dice.choice(node.log_directories))
            for one in self._dice.sample(some, min(len(some), 8))
        }
        admin.alter_replica_log_dirs(moves, errors={})
        admin.describe_log_dirs([node.node_id])


CHURNS: Final[Sequence[type[Churn]]] = (Topics, Topics, Topics, Settings, Writing, Transactions, Groups, Moves)


def wait(futures: "dict[Any, Future[Any]]") -> None:
    """Returns once all are answered; raises the first refusal."""
    for future in futures.values():
        future.result(2 * _ASK_SECONDS)


def create_steady(cluster: Cluster) -> None:
    """Makes the topics that stay."""
    wanted = [NewTopic(name, 3, len(cluster.nodes), config=config) for name, config in STEADY.items()]
    wanted.append(NewTopic("wide", _WIDE, len(cluster.nodes)))
    admin = admin_client(cluster.bootstrap)
    wait(admin.create_topics(wanted, request_timeout=_ASK_SECONDS))


def complaints(lines: Iterable[str]) -> list[str]:
    """What a node that lives through it in order has no reason to write: errors and tracebacks, with what follows."""
    found: list[str] = []
    for line in lines:
        if "] ERROR " in line or "] FATAL " in line or line.startswith("Traceback") or (found and line.startswith(" ")):
            found.append(line)
    return found
