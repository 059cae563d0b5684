"""Finds the stores of an application, from the leader's task map, which each member gets with its assignment.

Members are known by their `application.server`; those without one run tasks that no other instance can query.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.streams.engine.store.spec import StoreSpec
from ottla.streams.errors import StreamsError
from ottla.streams.host.application import Application, Stage
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.assignor import TaskMap


class HostInfo(NamedTuple):
    """The address at which an instance is queried.

    >>> HostInfo.parse("localhost:7070")
    HostInfo(host='localhost', port=7070)
    """

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "HostInfo":
        """From `application.server`."""
        host, _, port = text.rpartition(":")
        if not host or not port.isdigit():
            raise StreamsError(f"application.server: {text!r} has to be host:port")
        return cls(host, int(port))


@dataclass(frozen=True, slots=True)
class KeyQueryMetadata:
    """The owner of a key, and the instances with copies. The owner is None while it is unknown."""

    active_host: HostInfo | None
    standby_hosts: tuple[HostInfo, ...]
    partition: int


@dataclass(frozen=True, slots=True)
class StreamsMetadata:
    """An instance, and the partitions of its tasks by store."""

    host: HostInfo
    partitions: dict[str, tuple[int, ...]]
    standby_partitions: dict[str, tuple[int, ...]]

    @property
    def state_store_names(self) -> frozenset[str]:
        """The stores of which it has partitions."""
        return frozenset(self.partitions)


class StorePlaces:
    """Looks stores up in a task map."""

    def __init__(self, application: Application, task_map: TaskMap) -> None:
        self._application: Final = application
        self._map: Final = task_map

    def of_key(self, store: str, key: Any) -> KeyQueryMetadata:
        """The owner of a key, which is encoded by the store's serde and partitioned as producers do."""
        stage, spec = stage_of(self._application, store)
        partition = partition_of_key(self._key_bytes(spec, key), stage.partitions)
        task = TaskId(stage.number, partition)
        active = [HostInfo.parse(at) for at, tasks in self._map.active_at.items() if task in tasks]
        standby = [HostInfo.parse(at) for at, tasks in self._map.standby_at.items() if task in tasks]
        return KeyQueryMetadata(active[0] if active else None, tuple(sorted(standby)), partition)

    def all(self) -> list[StreamsMetadata]:
        """All instances that can be asked."""
        found = []
        for at in sorted({*self._map.active_at, *self._map.standby_at}):
            active, standby = self._map.active_at.get(at, ()), self._map.standby_at.get(at, ())
            found.append(StreamsMetadata(HostInfo.parse(at), self._stores(active), self._stores(standby)))
        return found

    def of_store(self, store: str) -> list[StreamsMetadata]:
        """The instances that have partitions of a store."""
        stage_of(self._application, store)
        return [one for one in self.all() if store in one.partitions]

    def _stores(self, tasks: Iterable[TaskId]) -> dict[str, tuple[int, ...]]:
        found: dict[str, list[int]] = {}
        for task in sorted(tasks):
            for stage in self._application.stages:
                if stage.number == task.stage:
                    for store in stage.stores:
                        found.setdefault(store, []).append(task.partition)
        return {store: tuple(partitions) for store, partitions in found.items()}

    def _key_bytes(self, spec: StoreSpec, key: Any) -> bytes:
        serde = spec.key_serde or self._application.configuration.get("default.key.serde")
        data = None if serde is None else serde.serialize(self._application.changelog_topic(spec.name), (), key)
        if data is None:
            raise StreamsError(f"the store {spec.name} has no serde for the key {key!r}")
        return bytes(data)


def stage_of(application: Application, store: str) -> tuple[Stage, StoreSpec]:
    """The sub-topology that has a store, and what the store is."""
    for stage in application.stages:
        if store in stage.stores:
            return stage, application.topology.stores[store]
    raise StreamsError(f"Cannot get state store {store} because no such store is registered in the topology.")
