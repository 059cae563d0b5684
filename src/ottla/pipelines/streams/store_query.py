"""Interactive queries on Spark: the stores of the tasks that run on this machine, as their last micro-batch left them.

Tasks run in processes of Spark's; their states lie in `state.dir`, where any process may read them meanwhile. The
driver answers for all partitions. States of executors on other machines are out of reach, and an error says so.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from ottla.streams.engine.store.reading import read_store
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application
from ottla.streams.host.task_share import TaskId
from ottla.streams.local.assignor import TaskMap
from ottla.streams.local.query.place import KeyQueryMetadata, StorePlaces, StreamsMetadata, stage_of
from ottla.streams.local.query.reader import (
    READERS,
    InvalidStateStoreError,
    QueryableStoreType,
    StoreQuery,
    UnknownStateStoreError,
    type_of,
)
from ottla.streams.serving import application_server
from ottla.streams.state.errors import StateUnavailableError
from ottla.streams.state.state_reader import StateReader


class SparkStores:
    """The stores of one application, for the threads of its driver."""

    def __init__(
        self,
        topology: Topology,
        config: Mapping[str, Any],
        directory: Path,
        application: Callable[[], Application],
    ) -> None:
        """`application` gives it as it is on the cluster, or raises while that is not known."""
        self._topology: Final = topology
        self._config: Final = config
        self._directory: Final = directory
        self._application: Final = application
        self._server: Final = application_server(config)
        self._readers: Final[dict[str, StateReader]] = {}

    def store(self, name: str, store_type: QueryableStoreType | None, partition: int | None) -> Any:
        """A store, to be read from any thread; without a type by its kind."""
        spec = self._topology.stores.get(name)
        if spec is None:
            raise UnknownStateStoreError(
                f"Cannot get state store {name} because no such store is registered in the topology."
            )
        wanted = store_type or type_of(spec.kind)
        wanted.check(name, spec.kind)
        query = StoreQuery(name, wanted, partition)
        self._views(query)
        return READERS[wanted](_asked, lambda: self._views(query))

    def places(self) -> StorePlaces:
        """The places of stores: all tasks at the driver's `application.server`; none without one."""
        application = self._application()
        tasks = tuple(
            TaskId(stage.number, number) for stage in application.stages for number in range(stage.partitions)
        )
        return StorePlaces(application, TaskMap(active_at={self._server: tasks} if self._server else {}))

    def of_key(self, store: str, key: Any) -> KeyQueryMetadata:
        """The owner of a key."""
        return self.places().of_key(store, key)

    def of_store(self, store: str) -> list[StreamsMetadata]:
        """The instances with partitions of a store."""
        return self.places().of_store(store)

    def close(self) -> None:
        """Closes all states."""
        for reader in self._readers.values():
            reader.close()
        self._readers.clear()

    def _views(self, query: StoreQuery) -> list[Any]:
        application = self._application()
        if query.store in application.topology.global_sources.values():
            spec, names = application.topology.stores[query.store], ["global"]
        else:
            stage, spec = stage_of(application, query.store)
            names = [str(number) for number in range(stage.partitions) if query.partition in (None, number)]
        serdes = application.configuration.get
        try:
            return [
                read_store(
                    spec,
                    application.application_id,
                    self._reader(name).map(query.store),
                    lambda role: serdes(f"default.{role.value}.serde"),
                    with_times=query.type.with_times,
                )
                for name in names
                if self._reader(name).is_there()
            ] or self._nothing(query)
        except StateUnavailableError as error:
            raise InvalidStateStoreError(f"The state store, {query.store}, cannot be read now: {error}") from error

    def _nothing(self, query: StoreQuery) -> list[Any]:
        raise InvalidStateStoreError(
            f"The state store, {query.store}, has no partition on this machine: it is being restored, or Spark's "
            f"executors have it elsewhere"
        )

    def _reader(self, name: str) -> StateReader:
        return self._readers.setdefault(name, StateReader(self._directory / name))


def _asked(function: Callable[[], Any]) -> Any:
    """Reading needs no other thread."""
    return function()
