"""The state that a batch starts from: the local one if it is the right one, else one restored from changelogs.

The local state is a cache. One that is new, behind, ahead or of another topology is filled anew: from all records of
the changelogs up to the last committed one. Exactly once, the group's offsets say where that is: they were committed
with those records.
"""

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.record import TopicPartition
from ottla.pipelines.option.parse import ReadOptions
from ottla.pipelines.source.offset_range import OffsetRange
from ottla.pipelines.source.range_read import RangePartition, read_range
from ottla.pipelines.streams.arrow_feed import READ, records_of
from ottla.pipelines.streams.shipment import Shipment
from ottla.pipelines.streams.task_output import TaskOutput
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.protocol.errors import UnknownTopicOrPartitionError
from ottla.streams.engine.store.spec import LoggedChange
from ottla.streams.errors import StreamsError
from ottla.streams.host.batch_run import restored
from ottla.streams.state.errors import StateMismatchError, StateUnavailableError
from ottla.streams.state.local_state import LocalState, Position, StateBatch, remove_state
from ottla.streams.state.snapshot import SnapshotDirectory

_log = logging.getLogger(__name__)
_REPORT_RECORDS: Final = 100_000
_OPEN_PATIENCE_S: Final = 120.0
_OPEN_PAUSE_S: Final = 0.1


class StateOpening:
    """Opens the state of one partition number for one batch."""

    def __init__(self, shipment: Shipment, options: ReadOptions, task: TaskPartition, output: TaskOutput) -> None:
        self._shipment: Final = shipment
        self._application: Final = shipment.application
        self._options: Final = options
        self._task: Final = task
        self._output: Final = output
        self._path: Final[Path] = shipment.state_dir / str(task.number)
        self._prefix: Final = f"[{self._application.application_id} partition {task.number}]"
        self._state = self._opened()
        self._snapshots: Final = self._snapshot_directory()

    def begin(self) -> StateBatch | None:
        """The state at the start of the batch; None: the restored one has the batch behind it."""
        state, start = self._state, self._task.start
        if not state.is_before(start):
            self._restore()
        state = self._state
        if state.is_before(start):
            self._take_snapshot()
            return state.begin(start)
        position = state.position
        if is_at(position, self._task.end):
            return None
        raise StateMismatchError(
            f"{self._prefix} the changelogs hold the state at {position}, and the batch leads from {start} to "
            f"{self._task.end}: the checkpoint and the group's offsets do not belong together. Reset the application"
        )

    def close(self) -> None:
        """Closes it."""
        self._state.close()

    def _opened(self) -> LocalState:
        identity = self._application.identity(self._task.number)
        is_synced = not self._application.is_restorable(self._task.number)
        try:
            return LocalState(self._path, identity, is_synced=is_synced)
        except StateMismatchError as error:
            _log.warning("%s %s: it is made anew", self._prefix, error)
            remove_state(self._path)
            return LocalState(self._path, identity, is_synced=is_synced)

    def _restore(self) -> None:
        standing = self._output.settle()
        with self._admin() as admin:
            ranges = [
                self._changelog_range(admin, TopicPartition(name, self._task.number)) for name in self._changelogs()
            ]
            batch, ranges = self._begun(admin, ranges)
            try:
                count = self._fill(batch, ranges)
            except BaseException:
                batch.abort()
                raise
            if standing is None:
                # Nothing says where the changelogs stand: at the batch, unless records are there twice anyway.
                batch.commit(self._task.start, {})
            else:
                batch.commit({**self._task.start, **standing.position}, standing.times)
        if count:
            _log.warning("%s restored %d records from changelogs", self._prefix, count)

    def _begun(self, admin: Admin, ranges: list[OffsetRange]) -> tuple[StateBatch, list[OffsetRange]]:
        """An empty state and all of the changelogs; or the newest snapshot, and what came after it."""
        found = None if self._snapshots is None else self._snapshots.newest()
        if self._snapshots is None or found is None:
            return self._state.restore(), ranges
        left = [_after(wanted, found.offsets.get(wanted.partition.topic)) for wanted in ranges]
        if None in left or found.topic_ids != self._topic_ids(admin):
            _log.warning("%s the changelogs do not go on from the snapshot: they are read as a whole", self._prefix)
            return self._state.restore(), ranges
        self._state.close()
        remove_state(self._path)
        try:
            self._snapshots.install(found, self._path)
        except OSError as error:
            _log.warning("%s the snapshot cannot be read (%s): the changelogs are", self._prefix, error)
            remove_state(self._path)
            self._state = self._opened()
            return self._state.restore(), ranges
        self._state = self._opened()
        _log.warning("%s starts from a snapshot", self._prefix)
        return self._state.catch_up(), [wanted for wanted in left if wanted is not None]

    def _snapshot_directory(self) -> SnapshotDirectory | None:
        terms, number = self._shipment.snapshots, self._task.number
        if terms is None or not self._changelogs() or not self._application.is_restorable(number):
            return None
        identity = self._application.identity(number)
        return SnapshotDirectory(terms.directory, self._application.application_id, number, identity)

    def _take_snapshot(self) -> None:
        """Copies the state at the start of a batch, once all that it holds is committed in the changelogs.

        A state that stands behind the start has a batch that may not be committed, and is not copied.
        """
        terms, start = self._shipment.snapshots, self._task.start
        if self._snapshots is None or terms is None or not is_at(self._state.position, start):
            return
        if not self._snapshots.is_due(terms.interval_ms):
            return
        try:
            with self._admin() as admin:
                ids = self._topic_ids(admin)
                ends = {topic: self._ends(admin, TopicPartition(topic, self._task.number)) for topic in ids}
            if all(committed >= latest for _, committed, latest in ends.values()):
                offsets = {topic: committed for topic, (_, committed, _) in ends.items()}
                self._snapshots.take(self._state, offsets, ids)
        except (OSError, StateUnavailableError) as error:
            # The work goes on without: the changelogs have everything.
            _log.warning("%s no snapshot could be taken: %s", self._prefix, error)

    def _admin(self) -> Admin:
        return Admin({name: value for name, value in self._options.settings.items() if name in ADMIN_KEYS})

    def _topic_ids(self, admin: Admin) -> dict[str, str]:
        found = admin.describe_topics(self._changelogs())
        return {name: str(topic.topic_id) for name, topic in found.items()}

    def _changelogs(self) -> list[str]:
        """The changelog topics of this partition number."""
        application = self._application
        stores = application.stores_of(self._task.number)
        return [application.changelogs[spec.name].name for _, spec in stores if spec.logging]

    def _fill(self, batch: StateBatch, ranges: list[OffsetRange]) -> int:
        count = 0
        takers = restored(self._application, self._task.number, batch)
        for wanted in ranges:
            restore = takers[wanted.partition.topic]
            for change in self._changes(wanted):
                restore(change)
                count += 1
                if count % _REPORT_RECORDS == 0:
                    _log.warning("%s restored %d records, now from %s", self._prefix, count, wanted.partition)
        return count

    def _changelog_range(self, admin: Admin, place: TopicPartition) -> OffsetRange:
        """The whole changelog, once no transaction on it is open any more."""
        deadline = time.monotonic() + _OPEN_PATIENCE_S
        while True:
            earliest, committed, latest = self._ends(admin, place)
            if committed >= latest or not self._shipment.is_exactly_once:
                return OffsetRange(place, earliest, committed)
            if time.monotonic() > deadline:
                raise StreamsError(f"{self._prefix} a transaction on {place} stays open: another one writes there")
            time.sleep(_OPEN_PAUSE_S)

    def _ends(self, admin: Admin, place: TopicPartition) -> tuple[int, int, int]:
        """The start of a changelog, its end for readers of committed records, and its end."""
        try:
            earliest = admin.list_offsets({place: OffsetSpec.EARLIEST})[place].offset
            wanted = IsolationLevel.READ_COMMITTED
            committed = admin.list_offsets({place: OffsetSpec.LATEST}, isolation_level=wanted)[place].offset
            latest = admin.list_offsets({place: OffsetSpec.LATEST})[place].offset
        except UnknownTopicOrPartitionError:
            raise StreamsError(
                f"{self._prefix} the changelog {place.topic} is gone, and the local state is not usable: what it "
                f"held is lost. Reset the application to compute it again from the inputs"
            ) from None
        return earliest, committed, latest

    def _changes(self, wanted: OffsetRange) -> Iterator[LoggedChange]:
        for record in records_of(wanted.partition, read_range(RangePartition(wanted), self._options, READ)):
            yield LoggedChange(record.key or b"", record.value, record.timestamp, record.headers)


def is_at(position: Position | None, end: Position) -> bool:
    """Whether a state stands at the end of a batch."""
    return position is not None and all(position.get(topic, offset) == offset for topic, offset in end.items())


def _after(wanted: OffsetRange, offset: int | None) -> OffsetRange | None:
    """The part of a changelog from an offset on; None if the changelog does not continue there."""
    if offset is None or not wanted.start <= offset <= wanted.end:
        return None
    return OffsetRange(wanted.partition, offset, wanted.end)
