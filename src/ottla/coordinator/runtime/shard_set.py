"""The shards of one internal topic that this broker leads.

Follows leadership: an election opens a shard and has it loaded, a resignation closes it. News of an older epoch than
the one at hand are late, and ignored.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from ottla.coordinator.ports import TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import Done, Operation
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.protocol.errors import NotCoordinatorError

S = TypeVar("S")

_log = logging.getLogger(__name__)

# An enum's member is found by a search each time.
_ACTIVE: Final = ShardStatus.ACTIVE


class ShardSet(Generic[S]):
    """All shards of a topic on this broker, by partition."""

    def __init__(
        self,
        open_shard: Callable[[int, int], Shard[S]],
        start_load: Callable[[Shard[S]], None],
        wants_flush: Callable[[], None],
    ) -> None:
        """`open_shard` makes a shard from a partition and its leader epoch; `start_load` has its log fed into it.

        `wants_flush` is called when there is something to flush and it was not called for it yet.
        """
        self._open_shard: Final = open_shard
        self._start_load: Final = start_load
        self._wants_flush: Final = wants_flush
        self._shards: dict[int, Shard[S]] = {}
        self._epochs: dict[int, int] = {}
        self._dirty: list[Shard[S]] = []

    def elected(self, partition: int, leader_epoch: int) -> None:
        """This broker leads `partition` since `leader_epoch`."""
        if leader_epoch <= self._epochs.get(partition, -1):
            _log.info("[partition=%d] Ignored an election in old epoch %d", partition, leader_epoch)
            return
        self._epochs[partition] = leader_epoch
        shard = self._shards.get(partition)
        if shard is not None and shard.status in (ShardStatus.LOADING, ShardStatus.ACTIVE):
            # Leader in one epoch and in the next: no other broker wrote in between.
            return
        self._reopen(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """This broker leads `partition` no more; the epoch is None if the replica itself is gone."""
        if leader_epoch is not None:
            if leader_epoch < self._epochs.get(partition, -1):
                _log.info("[partition=%d] Ignored a resignation in old epoch %d", partition, leader_epoch)
                return
            self._epochs[partition] = leader_epoch
        shard = self._shards.pop(partition, None)
        if shard is not None:
            shard.unload()
        if leader_epoch is None:
            self._epochs.pop(partition, None)

    def reload(self, shard: Shard[S]) -> bool:
        """Opens the partition of a closed shard anew; False if that shard is no longer the partition's."""
        if self._shards.get(shard.partition) is not shard:
            return False
        self._reopen(shard.partition, self._epochs[shard.partition])
        return True

    def get(self, partition: int) -> Shard[S]:
        """The shard of `partition`, loaded or not; `NotCoordinatorError` if this broker does not lead it."""
        shard = self._shards.get(partition)
        if shard is None:
            raise NotCoordinatorError
        return shard

    def find_active(self, partition: int) -> Shard[S] | None:
        """The shard of `partition` if it takes operations."""
        shard = self._shards.get(partition)
        return shard if shard is not None and shard.status is _ACTIVE else None

    def leader_epoch(self, partition: int) -> int:
        """Since which epoch this broker leads a partition; -1 if it does not."""
        return self._epochs[partition] if partition in self._shards else -1

    def __iter__(self) -> Iterator[Shard[S]]:
        """All shards, also those that load."""
        return iter(list(self._shards.values()))

    @property
    def active(self) -> list[Shard[S]]:
        """The shards that take operations."""
        return [shard for shard in self._shards.values() if shard.status is ShardStatus.ACTIVE]

    def write(self, partition: int, operation: Operation[S], done: Done, now_ms: int) -> None:
        """`Shard.write`, or NOT_COORDINATOR."""
        shard = self._shards.get(partition)
        if shard is None:
            done(NotCoordinatorError())
        else:
            shard.write(operation, done, now_ms)

    def write_transactional(
        self, partition: int, operation: Operation[S], producer: TransactionalProducer, done: Done, now_ms: int
    ) -> None:
        """`Shard.write_transactional`, or NOT_COORDINATOR."""
        shard = self._shards.get(partition)
        if shard is None:
            done(NotCoordinatorError())
        else:
            shard.write_transactional(operation, producer, done, now_ms)

    def write_marker(self, partition: int, marker: TransactionMarker, done: Done, now_ms: int) -> None:
        """`Shard.write_marker`, or NOT_COORDINATOR."""
        shard = self._shards.get(partition)
        if shard is None:
            done(NotCoordinatorError())
        else:
            shard.write_marker(marker, done, now_ms)

    def committed(self, partition: int, high_watermark: int) -> None:
        """The high watermark of a partition has moved."""
        shard = self._shards.get(partition)
        if shard is not None:
            shard.committed(high_watermark)

    def flush(self, now_ms: int) -> None:
        """Ends a round: appends what operations decided, and loads anew what lost track of its log."""
        while self._dirty:
            dirty, self._dirty = self._dirty, []
            for shard in dirty:
                shard.flush(now_ms)
                if shard.status is not _ACTIVE and shard.is_out_of_sync and self._shards.get(shard.partition) is shard:
                    self._reopen(shard.partition, self._epochs[shard.partition])

    def poll(self, now_ms: int) -> None:
        """Runs what is due by now."""
        for shard in self:
            next_ms = shard.next_ms
            if next_ms is not None and next_ms <= now_ms:
                shard.poll(now_ms)

    @property
    def next_ms(self) -> int | None:
        """The next time to call `poll`; None for never."""
        return min((due for shard in self if (due := shard.next_ms) is not None), default=None)

    def _reopen(self, partition: int, leader_epoch: int) -> None:
        before = self._shards.get(partition)
        if before is not None:
            before.unload()
        shard = self._shards[partition] = self._open_shard(partition, leader_epoch)
        shard.woken = self._woken
        self._start_load(shard)

    def _woken(self, shard: Shard[S]) -> None:
        is_first = not self._dirty
        self._dirty.append(shard)
        if is_first:
            self._wants_flush()
