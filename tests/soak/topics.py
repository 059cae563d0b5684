"""Topics come and go: with small segments, compacted or cut by retention, grown, reconfigured, deleted, made anew."""

from collections import deque

from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    ResourceType,
)

from tests.clients.client import confluent
from tests.soak.worker import Tell, Worker
from tests.torture.ending import admin_client

_ASK_SECONDS = 30
_LIVE_MAX = 5
_NAMES = 40
"""So many names, which come again and again."""
_SMALL = {"segment.bytes": "1048576", "segment.ms": "1000", "file.delete.delay.ms": "500"}
_POLICIES = (
    {"cleanup.policy": "delete", "retention.ms": "3000"},
    {"cleanup.policy": "delete", "retention.bytes": "32768"},
    {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "delete.retention.ms": "500"},
    {"cleanup.policy": "compact,delete", "retention.ms": "4000", "min.cleanable.dirty.ratio": "0.01"},
)


class Topics(Worker):
    """Has up to five topics at a time, writes to some of them, and replaces them."""

    name = "topics"

    def __init__(self, bootstrap: str, seed: int, tell: Tell) -> None:
        super().__init__(bootstrap, seed, tell)
        self._nodes = len(bootstrap.split(","))
        self._admin: AdminClient = admin_client(bootstrap)
        self._live: deque[str] = deque()

    def step(self) -> None:
        """One topic more; the oldest goes, and perhaps comes again at once."""
        name = f"soak-{self.number % _NAMES}"
        if self.attempt("topics created", lambda: self._create(name)):
            self._live.append(name)
        for live in self.dice.sample(self._live, min(3, len(self._live))):
            self._write(live)
        chosen = self.dice.choice(self._live) if self._live else name
        self.attempt("policies changed", lambda: self._alter(chosen, self.dice.choice(_POLICIES)))
        if self.dice.random() < 0.5:
            self.attempt("partitions added", lambda: self._grow(chosen))
        if len(self._live) > _LIVE_MAX:
            self._replace(self._live.popleft())

    def _replace(self, name: str) -> None:
        self.attempt("topics deleted", lambda: self._delete(name))
        if self.dice.random() < 0.5 and self.attempt("topics made anew at once", lambda: self._create(name)):
            self._write(name)
            self.attempt("topics deleted", lambda: self._delete(name))

    def _create(self, name: str) -> None:
        config = _SMALL | self.dice.choice(_POLICIES)
        wanted = NewTopic(name, self.dice.randrange(1, 4), self._nodes, config=config)
        self._admin.create_topics([wanted], request_timeout=_ASK_SECONDS)[name].result()

    def _delete(self, name: str) -> None:
        self._admin.delete_topics([name], request_timeout=_ASK_SECONDS)[name].result()

    def _grow(self, name: str) -> None:
        there = len(self._admin.list_topics(name, _ASK_SECONDS).topics[name].partitions)
        if there:
            wanted = NewPartitions(name, there + 1)
            self._admin.create_partitions([wanted], request_timeout=_ASK_SECONDS)[name].result()

    def _alter(self, name: str, policy: dict[str, str]) -> None:
        changes = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET) for key, value in policy.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=changes)
        for future in self._admin.incremental_alter_configs([resource], request_timeout=_ASK_SECONDS).values():
            future.result()

    def _write(self, name: str) -> None:
        """Some hundred records of an idempotent producer that is new each time."""
        client = confluent.producer(self.bootstrap, enable_idempotence=True, linger_ms=5, message_timeout_ms=10_000)
        for turn in range(self.dice.randrange(50, 300)):
            client.produce(name, bytes(400), key=b"%d" % (turn % 17))
            client.poll(0)
        client.flush(15)
        self.count("idempotent producers")

    def end(self) -> None:
        """Nothing of it stays."""
        for name in self._live:
            self.attempt("topics deleted", lambda name=name: self._delete(name))
        self._live.clear()
