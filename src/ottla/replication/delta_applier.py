"""Applies the metadata to the broker's partitions: deletes, creates, promotes, demotes, in the order of the log.

One delta is finished before the next begins. Work on the loop is done in slices, so that thousands of partitions at
once delay no request; `log_preparation` waits for the disk. Until its turn comes a new partition is answered for by
`PartitionTable.absence`; one that is to go is out of the table at once. A topic may have been deleted and made anew by
then, and records for the new one must not go to the old one.
"""

import logging
from collections import deque
from collections.abc import Callable, Generator, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple

from ottla.base.ids import Uuid
from ottla.metadata.directory_id import LOST
from ottla.metadata.image.local_replica_change import LocalPartition, LocalReplicaChanges, local_changes
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.protocol.errors import ApiError, UnknownServerError
from ottla.replication.directory.log_mover import LogMover
from ottla.replication.directory.log_preparation import LogPreparation, Prepared, Wanted
from ottla.replication.partition.partition import Partition
from ottla.replication.replication_context import ReplicationContext
from ottla.storage.log.log import Log
from ottla.storage.topic_partition import TopicPartition

_log = logging.getLogger(__name__)
_SLICE_SECONDS: Final = 0.005
_DELETIONS: Final = 200
"""Logs that are deleted together: checkpoints are written once for all of them."""


class _Step(Enum):
    """The condition of the next piece of work."""

    GO_ON = auto()
    WAIT = auto()
    """For worker threads, which call back."""


_Steps = Generator[_Step, None, None]


class _Change(NamedTuple):
    """A delta that waits for its turn."""

    changes: LocalReplicaChanges
    image: MetadataImage
    gone: list[Partition]
    """The deleted partitions that were here."""


class DeltaApplier:
    """Applies deltas, one after the other. Loop thread only."""

    def __init__(self, context: ReplicationContext, preparation: LogPreparation, mover: LogMover) -> None:
        self._context: Final = context
        self._table: Final = context.table
        self._preparation: Final = preparation
        self._mover: Final = mover
        self._queue: deque[_Change] = deque()
        self._steps: _Steps | None = None
        self._open = 0
        """Partitions that worker threads have not handed back yet."""
        self._damaged: list[LocalPartition] = []
        """Partitions whose log cannot be opened, which the controller is to know of."""
        self._is_waiting = False
        self._is_closed = False
        self._waiters: list[tuple[int, Callable[[], None]]] = []
        self.applied_offset = -1
        self.in_controlled_shutdown = False

    def submit(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes a delta; what it says is done by the time that `applied_offset` says so."""
        changes = local_changes(delta.topics, self._context.view.node_id)
        self._queue.append(_Change(changes, image, self._withdraw(changes.deleted)))
        if self._steps is None:
            self._turn()

    def when_applied(self, offset: int, callback: Callable[[], None]) -> None:
        """See `ReplicaManager.when_applied`."""
        if self.applied_offset >= offset:
            callback()
        else:
            self._waiters.append((offset, callback))

    def close(self) -> None:
        """Applies nothing more."""
        self._is_closed = True
        self._queue.clear()
        self._waiters.clear()

    # Slices

    def _turn(self) -> None:
        """Works for a slice of time, or until worker threads have to be waited for."""
        loop = self._context.loop
        until = loop.time() + _SLICE_SECONDS
        while not self._is_closed and not self._is_waiting and (self._steps is not None or self._queue):
            if self._steps is None:
                self._steps = self._apply(self._queue.popleft())
            try:
                step = next(self._steps, None)
            except Exception as error:  # noqa: BLE001 - the rest of one delta is lost, but not those that follow
                self._context.note_fault(error)
                step = None
            if step is None:
                self._steps = None
            self._is_waiting = step is _Step.WAIT
            if loop.time() >= until:
                loop.call_soon(self._turn)
                return

    def _go_on(self) -> None:
        """Continues, as the awaited result has come."""
        self._is_waiting = False
        self._turn()

    def _apply(self, change: _Change) -> _Steps:
        changes, image, gone = change
        if changes.deleted:
            yield from self._delete(changes.deleted, gone)
        wanted: list[Wanted] = []
        for is_leader, registrations in ((True, changes.leaders), (False, changes.followers)):
            for name, registration in registrations.items():
                if not self._change(name, registration, is_leader=is_leader):
                    wanted.append(Wanted(name, registration, registration.directory(self._node_id), is_leader))
                yield _Step.GO_ON
        if wanted:
            self._open = len(wanted)
            self._preparation.prepare(wanted, self._prepared)
            yield _Step.WAIT
        if image.features.metadata_version is not None and image.features.version.supports_directory_assignment:
            for name, directory in changes.directories.items():
                self._report_directory(name, directory)
                yield _Step.GO_ON
            self._report_damaged()
        self._context.fetchers.close_idle()
        self._applied(image.provenance.offset)

    def _applied(self, offset: int) -> None:
        self.applied_offset = offset
        due = [callback for wanted, callback in self._waiters if wanted <= offset]
        self._waiters = [waiter for waiter in self._waiters if waiter[0] > offset]
        for callback in due:
            callback()

    @property
    def _node_id(self) -> int:
        return self._context.view.node_id

    # Deleting

    def _withdraw(self, names: Sequence[LocalPartition]) -> list[Partition]:
        """Stops reads, writes and fetches of the partitions to delete; returns them."""
        gone = []
        for topic, _, index in names:
            partition = self._table.online.pop((topic, index), None)
            if partition is not None:
                self._context.fetchers.leave(partition)
                gone.append(partition)
        return gone

    def _delete(self, names: Sequence[LocalPartition], gone: list[Partition]) -> _Steps:
        for topic, _, index in names:
            # One that was still to be made when the delta came is there by now.
            partition = self._table.remove(topic, index)
            if partition is not None:
                self._context.fetchers.leave(partition)
                gone.append(partition)
            yield _Step.GO_ON
        for partition in gone:
            self._mover.cancel(partition)
            self._context.waiting.check(partition)
            yield _Step.GO_ON
        _log.info("[broker=%d] deleting %d partitions", self._node_id, len(names))
        for start in range(0, len(names), _DELETIONS):
            some = [TopicPartition(name.topic, name.partition) for name in names[start : start + _DELETIONS]]
            self._preparation.delete(some, self._deleted)
            yield _Step.WAIT

    def _deleted(self, problems: Sequence[ApiError]) -> None:
        if self._is_closed:
            return
        for problem in problems:
            _log.error("[broker=%d] not deleted: %s", self._node_id, problem)
        self._context.directory_watch.check()
        self._go_on()

    # Changing

    def _change(self, name: LocalPartition, registration: PartitionRegistration, *, is_leader: bool) -> bool:
        """Changes a partition that is here, if that needs no disk; False if it has to be prepared."""
        key = (name.topic, name.partition)
        partition = self._table.online.get(key)
        if partition is None:
            return self._table.offline.get(key) == name.topic_id
        if not is_leader:
            self._follow(partition, registration)
            return True
        if registration.leader_epoch > partition.leader_epoch:
            # From here to the promotion the log has no writer.
            self._context.fetchers.leave(partition)
            if partition.log.is_half_cut or partition.log.offline_error is not None:
                return False
        partition.become_leader(registration, self._context.clock.monotonic_ms())
        self._context.waiting.check(partition)
        return True

    def _follow(self, partition: Partition, registration: PartitionRegistration) -> None:
        is_new_epoch = partition.become_follower(registration)
        if self.in_controlled_shutdown and (registration.leader == NO_LEADER or self._node_id not in registration.isr):
            # What is fetched now would only be truncated at the next start.
            self._context.fetchers.leave(partition)
        elif is_new_epoch:
            self._context.fetchers.follow(partition)
        self._context.waiting.check(partition)

    def _prepared(self, prepared: Sequence[Prepared]) -> None:
        if self._is_closed:
            return
        for wanted, log in prepared:
            try:
                if isinstance(log, ApiError):
                    self._failed(wanted, log)
                else:
                    self._take_up(wanted, log)
            except Exception as error:  # noqa: BLE001 - one partition's trouble is not the others'
                self._context.note_fault(error)
        self._open -= len(prepared)
        if not self._open:
            self._go_on()

    def _take_up(self, wanted: Wanted, log: Log) -> None:
        topic, topic_id, index = wanted.name
        if self._table.topics.ids.get(topic) != topic_id:
            return  # Deleted since: that delta is in the queue.
        partition = self._table.online.get((topic, index))
        if partition is None:
            partition = Partition(wanted.name, log, self._context.view)
            self._table.add(partition)
            self._mover.resume(partition)
        if wanted.leads:
            partition.become_leader(wanted.registration, self._context.clock.monotonic_ms())
            self._context.waiting.check(partition)
        else:
            self._follow(partition, wanted.registration)

    def _failed(self, wanted: Wanted, error: ApiError) -> None:
        topic, topic_id, index = wanted.name
        _log.error("[broker=%d %s-%d] not served: %s", self._node_id, topic, index, error)
        if isinstance(error, UnknownServerError):
            self._context.note_fault(error)
        partition = self._table.online.get((topic, index))
        self._table.take_offline(topic, index, topic_id)
        is_damaged = self._context.logs.directories.damaged_home_of(TopicPartition(topic, index)) is not None
        if is_damaged and len(wanted.registration.replicas) > 1:
            self._damaged.append(wanted.name)
        if partition is not None:
            self._context.waiting.check(partition)
        self._context.directory_watch.check()

    def _report_damaged(self) -> None:
        """Has partitions that are offline alone led by others: to the controller their directory is lost (KIP-858).

        A partition without other replicas stays as it is; who asks this broker for it learns why it is not served.
        """
        for _, topic_id, index in self._damaged:
            self._context.directory_events.assign(topic_id, index, LOST)
        self._damaged.clear()

    def _report_directory(self, name: LocalPartition, said: Uuid) -> None:
        home = self._context.logs.directories.home_of(TopicPartition(name.topic, name.partition))
        if home is not None and home.directory_id is not None and home.directory_id != said:
            self._context.directory_events.assign(name.topic_id, name.partition, home.directory_id)
