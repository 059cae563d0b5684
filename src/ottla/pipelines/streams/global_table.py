"""Global tables: a copy for all tasks of a machine, brought up to the end of its topics before each batch.

It lies beside the state of the partitions and is no part of their versions: a batch that is repeated may see rows that
came meanwhile, as a restarted instance of Kafka Streams does.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.record import TopicPartition
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.source.offset_range import OffsetRange
from ottla.pipelines.source.range_read import RangePartition, read_range
from ottla.pipelines.streams.arrow_feed import READ, records_of
from ottla.pipelines.streams.shipment import Shipment
from ottla.streams.engine.error_handler import OutputRecord
from ottla.streams.engine.store.spec import LoggedChange, StoreSpec
from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.engine.task import Task, TaskPlan
from ottla.streams.state.local_state import LocalState, StateBatch

_Offsets = dict[TopicPartition, int]


class _GlobalHost:
    """Bytes, and nothing else: a global table writes to no topic."""

    def __init__(self, batch: StateBatch) -> None:
        self._batch = batch

    def state_map(self, store: StoreSpec) -> StateMap:
        """The bytes of a store."""
        return self._batch.map(store.name)

    def log_change(self, store: str, change: LoggedChange) -> None:
        """The topic is the changelog."""

    def send(self, record: OutputRecord) -> None:
        """There is nothing to send."""

    def partition_count(self, topic: str) -> int:
        """Never called: a global table has no sinks."""
        return 1

    def wall_clock_ms(self) -> int:
        """Never called: a global table has no punctuations."""
        return 0

    def request_commit(self) -> None:
        """The end of the catching up commits."""


class GlobalTables:
    """The global tables as one batch sees them."""

    def __init__(self, shipment: Shipment, options: ReadOptions) -> None:
        self._application: Final = shipment.application
        self._shipment: Final = shipment
        self._options: Final = options
        self._state: LocalState | None = None
        self._reading: StateBatch | None = None

    def stores(self) -> Mapping[str, Any]:
        """The stores by name, complete up to now."""
        application = self._application
        if not application.global_nodes:
            return {}
        topics = ",".join(application.global_topics)
        self._state = LocalState(
            self._shipment.state_dir / "global", f"{application.application_id} global {topics}", is_synced=True
        )
        self._catch_up(self._state)
        self._reading = self._state.read()
        task = self._task(self._reading)
        return {name: task.raw_store(name) for name in application.topology.global_sources.values()}

    def close(self) -> None:
        """Ends the look at them."""
        if self._reading is not None:
            self._reading.abort()
        if self._state is not None:
            self._state.close()

    def _catch_up(self, state: LocalState) -> None:
        ranges = self._ranges()
        if state.position is None:
            state.restore().commit({str(place): first for place, (first, _) in ranges.items()}, {})
        batch = state.go_on()
        position = dict(batch.position)
        begins = {place: max(position.get(str(place), first), first) for place, (first, _) in ranges.items()}
        wanted = [
            OffsetRange(place, begins[place], last) for place, (_, last) in ranges.items() if last > begins[place]
        ]
        if not wanted:
            batch.abort()
            return
        try:
            task = self._task(batch)
            task.open()
            for found in wanted:
                records = records_of(found.partition, read_range(RangePartition(found), self._options, READ))
                task.process(records)
            task.close()
        except BaseException:
            batch.abort()
            raise
        batch.commit(position | {str(found.partition): found.end for found in wanted}, {})

    def _ranges(self) -> dict[TopicPartition, tuple[int, int]]:
        settings = {name: value for name, value in self._options.settings.items() if name in ADMIN_KEYS}
        with Admin(settings) as admin:
            places = list(_places(admin, self._application.global_topics))
            first = admin.list_offsets(dict.fromkeys(places, OffsetSpec.EARLIEST))
            last = admin.list_offsets(
                dict.fromkeys(places, OffsetSpec.LATEST), isolation_level=IsolationLevel.READ_COMMITTED
            )
        return {place: (first[place].offset, last[place].offset) for place in places}

    def _task(self, batch: StateBatch) -> Task:
        application = self._application
        plan = TaskPlan(
            application.topology, application.global_nodes, application.application_id, "global",
            application.configuration,
        )  # fmt: skip
        return Task(plan, _GlobalHost(batch))


def _places(admin: Admin, topics: tuple[str, ...]) -> Iterator[TopicPartition]:
    for name, topic in sorted(admin.describe_topics(topics).items()):
        yield from (TopicPartition(name, part.partition) for part in topic.partitions)
