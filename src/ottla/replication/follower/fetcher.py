"""The follower's side of replication: one fetch loop for each broker that leads partitions which this one follows.

A fetch names all partitions that are ready, and its answer is followed by the next. Where the histories part the
follower truncates and goes on; what fails is left out for `replica.fetch.backoff.ms`; what cannot go on (a failed disk,
an epoch that is over) waits for the metadata to say how.

After an election a follower often hears of it before the new leader does, and is refused. It asks again after 10 ms,
20 ms, and so on up to `replica.fetch.backoff.ms`: acks=all waits for it, and the leader is behind by a moment only.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from ottla.base.frozen import frozen
from ottla.protocol.errors import ApiError, CorruptMessageError, ErrorCode
from ottla.replication.directory.disk_errand import ErrandDone
from ottla.replication.follower.follower_log import FollowerLog
from ottla.replication.follower.leader_endpoint import (
    FetchedByPartition,
    LeaderEndpoint,
    OffsetRequest,
    ReplicaFetch,
    ReplicaFetched,
    TopicIdPartition,
)
from ottla.replication.follower.throttle import Throttle
from ottla.replication.partition.partition import Partition
from ottla.replication.ports import EventLoop, TimerHandle
from ottla.replication.request.offset_query import EARLIEST, LATEST
from ottla.storage.errors import StorageError, UnexpectedOffsetError

_log = logging.getLogger(__name__)
_THROTTLE_LOOK_S: Final = 0.1
"""How often a fetcher that is held up altogether looks whether it may go on."""
_NEW_LEADER_BACKOFF_MS: Final = 10
_NOT_LEADER_YET: Final = frozenset(
    (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
)
"""Errors of a broker that has not learnt of its leadership yet."""


@frozen
class FetcherContext:
    """The collaborators of all fetchers."""

    loop: EventLoop
    logs: FollowerLog
    backoff_ms: Callable[[], int]
    """`replica.fetch.backoff.ms`"""
    throttle: Throttle


class Fetcher:
    """Fetches everything that one other broker leads and this one follows. Loop thread only."""

    def __init__(self, leader_id: int, endpoint: LeaderEndpoint, context: FetcherContext) -> None:
        self.leader_id: Final = leader_id
        self._endpoint: Final = endpoint
        self._loop: Final = context.loop
        self._logs: Final = context.logs
        self._backoff_ms: Final = context.backoff_ms
        self._throttle: Final = context.throttle
        self._partitions: dict[TopicIdPartition, Partition] = {}
        self._ready: dict[TopicIdPartition, ReplicaFetch] = {}
        """The partitions of the next fetch, without those that back off or wait."""
        self._outdated: set[TopicIdPartition] = set()
        """Partitions whose log start the next fetch has to look up again."""
        self._delayed: dict[TopicIdPartition, float] = {}
        """When each of those may be fetched again, on the loop's clock."""
        self._refusals: dict[TopicIdPartition, int] = {}
        """How often the leader has said of each that it does not lead it, since it last served it."""
        self._in_sync: set[TopicIdPartition] = set()
        """The partitions that were caught up at their last fetch."""
        self._timer: TimerHandle | None = None
        self._timer_due = 0.0
        self._is_fetching = False
        self._is_scheduled = False
        self._is_held_up = False
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: Partition) -> None:
        """Begins to fetch a partition, in its present leader epoch."""
        key = TopicIdPartition(partition.topic_id, partition.index)
        self._partitions[key] = partition
        self._refusals.pop(key, None)
        # An earlier leader may have had the log cut, and that may still be on its way to the disk.
        self._logs.when_settled(partition, partial(self._begin, key, partition, partition.leader_epoch))

    def _begin(self, key: TopicIdPartition, partition: Partition, leader_epoch: int) -> None:
        if not self._is_current(key, partition, leader_epoch):
            return
        log = partition.log
        if log.epochs.latest_epoch < 0 and log.log_end_offset > log.high_watermark:
            # Without epochs there is no telling where histories part; what is replicated is the same.
            self._cut(key, partition, partial(self._logs.truncate_to, partition, log.high_watermark))
        else:
            self._make_ready(key, partition)

    def remove(self, partition: Partition) -> None:
        """Fetches a partition no more; what is under way for it is dropped."""
        key = TopicIdPartition(partition.topic_id, partition.index)
        self._partitions.pop(key, None)
        self._ready.pop(key, None)
        self._delayed.pop(key, None)
        self._refusals.pop(key, None)
        self._in_sync.discard(key)

    def start_saved(self, partition: Partition) -> None:
        """The next fetch tells the leader where the log begins; the one under way goes on."""
        self._outdated.add(TopicIdPartition(partition.topic_id, partition.index))

    def close(self) -> None:
        """Stops."""
        self._is_closed = True
        self._partitions.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._endpoint.close()

    # The loop

    def _make_ready(self, key: TopicIdPartition, partition: Partition) -> None:
        log = partition.log
        self._ready[key] = ReplicaFetch(
            partition.topic,
            partition.topic_id,
            partition.index,
            log.log_end_offset,
            self._logs.starts.of(partition),
            partition.leader_epoch,
            log.epochs.latest_epoch,
        )
        self._schedule()

    def _schedule(self) -> None:
        """Has the next fetch sent, with everything that becomes ready in this turn of the loop."""
        if not self._is_scheduled and not self._is_fetching:
            self._is_scheduled = True
            self._loop.call_soon(self._fetch)

    def _fetch(self) -> None:
        self._is_scheduled = False
        if self._is_closed or self._is_fetching or not self._ready:
            return
        self._look_up_starts()
        wanted = self._unthrottled()
        if not wanted:
            self._wait_for_throttle()
            return
        self._is_fetching = True
        self._endpoint.fetch(list(wanted.values()), partial(self._fetched, wanted))

    def _look_up_starts(self) -> None:
        for key in self._outdated:
            if key in self._ready:
                start_offset = self._logs.starts.of(self._partitions[key])
                self._ready[key] = self._ready[key]._replace(log_start_offset=start_offset)
        self._outdated.clear()

    def _unthrottled(self) -> dict[TopicIdPartition, ReplicaFetch]:
        """Of what is ready, all that may be fetched now."""
        if not self._throttle.is_exceeded:
            return dict(self._ready)
        return {
            key: wanted
            for key, wanted in self._ready.items()
            if key in self._in_sync or not self._throttle.names(self._partitions[key])
        }

    def _wait_for_throttle(self) -> None:
        """Looks again soon; what becomes ready meanwhile and may be fetched does not wait for that."""

        def look() -> None:
            self._is_held_up = False
            self._schedule()

        if not self._is_held_up:
            self._is_held_up = True
            self._loop.call_at(self._loop.time() + _THROTTLE_LOOK_S, look)

    def _fetched(self, wanted: dict[TopicIdPartition, ReplicaFetch], answer: FetchedByPartition | ApiError) -> None:
        if self._is_closed:
            return
        self._is_fetching = False
        if isinstance(answer, ApiError):
            _log.info("[broker=%d] fetching failed, trying again: %s", self.leader_id, answer)
            for key, asked in wanted.items():
                if self._ready.get(key) is asked:
                    self._delay(key)
        else:
            for key, fetched in answer.items():
                # Its epoch may have changed, or its log been truncated, since this was asked for.
                if key in wanted and self._ready.get(key) is wanted[key]:
                    self._take(key, self._partitions[key], fetched)
        if self._ready:
            self._schedule()

    def _take(self, key: TopicIdPartition, partition: Partition, fetched: ReplicaFetched) -> None:
        try:
            if fetched.error_code != ErrorCode.NONE:
                self._refused(key, partition, fetched.error_code)
                return
            self._refusals.pop(key, None)
            if fetched.diverging_epoch is not None:
                _log.info(
                    "[%s-%d epoch=%d] the leader's log parts from this one at %s",
                    partition.topic,
                    partition.index,
                    partition.leader_epoch,
                    fetched.diverging_epoch,
                )
                self._cut(key, partition, partial(self._logs.truncate, partition, fetched.diverging_epoch))
                return
            begin_offset = self._logs.append(partition, fetched)
            if begin_offset is not None:
                # The records are taken then; those bytes are the connection's, which goes on with them.
                kept = fetched._replace(records=bytes(fetched.records))
                then = partial(self._take, key, partition, kept)
                self._cut(key, partition, partial(self._logs.restart, partition, begin_offset), then)
                return
            self._throttle.record(partition, len(fetched.records))
            log = partition.log
            if log.next_offset > log.log_end_offset:
                self._ready.pop(key, None)
                written = partial(self._written, key, partition, partition.leader_epoch, fetched._replace(records=b""))
                log.when_written(log.next_offset, written)
                return
            self._taken(key, partition, fetched)
        except (CorruptMessageError, UnexpectedOffsetError) as error:
            _log.error("[%s-%d] what the leader sent cannot be used: %s", partition.topic, partition.index, error)
            self._delay(key)
        except StorageError as error:
            self._wait_for_metadata(key)
            self._logs.failed(error)

    def _taken(self, key: TopicIdPartition, partition: Partition, fetched: ReplicaFetched) -> None:
        """Takes the leader's bounds over, once the fetched batches are in the log."""
        self._logs.take_bounds(partition, fetched)
        if partition.log.log_end_offset >= fetched.high_watermark:
            self._in_sync.add(key)
        else:
            self._in_sync.discard(key)
        self._make_ready(key, partition)

    def _written(
        self,
        key: TopicIdPartition,
        partition: Partition,
        leader_epoch: int,
        fetched: ReplicaFetched,
        error: StorageError | None,
    ) -> None:
        """A thread has written what was fetched, or never will."""
        try:
            if error is not None:
                raise error
            if self._is_current(key, partition, leader_epoch):
                self._taken(key, partition, fetched)
        except StorageError as problem:
            self._wait_for_metadata(key)
            self._logs.failed(problem)

    def _refused(self, key: TopicIdPartition, partition: Partition, code: int) -> None:
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._ready.pop(key, None)
            self._find_offset(key, partition)
        elif code == ErrorCode.FENCED_LEADER_EPOCH:
            # There is a later leader epoch, and the metadata will tell.
            self._wait_for_metadata(key)
        elif code in _NOT_LEADER_YET:
            refusals = self._refusals[key] = self._refusals.get(key, 0) + 1
            self._delay(key, min(_NEW_LEADER_BACKOFF_MS << min(refusals - 1, 10), self._backoff_ms()))
        else:
            _log.debug("[%s-%d] fetching from %d: error %d", partition.topic, partition.index, self.leader_id, code)
            self._delay(key)

    # Out of range

    def _find_offset(self, key: TopicIdPartition, partition: Partition) -> None:
        """The follower's end is outside of the leader's log: asks for the leader's bounds.

        Leader 0..50, follower ends at 80: an election lost records, so 50 is where to go on, after a truncation.
        Leader 100..200, follower ends at 80: it was away for too long, so all it has is dropped, and it begins at 100.
        """
        request = OffsetRequest(partition.topic, partition.index, partition.leader_epoch, LATEST)
        self._endpoint.list_offset(request, partial(self._end_found, key, partition, request))

    def _end_found(
        self, key: TopicIdPartition, partition: Partition, request: OffsetRequest, answer: int | ApiError
    ) -> None:
        if not self._is_current(key, partition, request.current_leader_epoch):
            return
        if isinstance(answer, ApiError):
            self._delay(key)
        elif answer < partition.log.log_end_offset:
            self._cut(key, partition, partial(self._logs.truncate_to, partition, answer))
        else:
            request = request._replace(timestamp=EARLIEST)
            self._endpoint.list_offset(request, partial(self._start_found, key, partition, request))

    def _start_found(
        self, key: TopicIdPartition, partition: Partition, request: OffsetRequest, answer: int | ApiError
    ) -> None:
        if not self._is_current(key, partition, request.current_leader_epoch):
            return
        if isinstance(answer, ApiError):
            self._delay(key)
        elif answer > partition.log.log_end_offset:
            _log.info("[%s-%d] the leader's log begins at %d", partition.topic, partition.index, answer)
            self._cut(key, partition, partial(self._logs.restart, partition, answer))
        else:
            self._delay(key)

    def _is_current(self, key: TopicIdPartition, partition: Partition, leader_epoch: int) -> bool:
        is_followed = self._partitions.get(key) is partition and not self._is_closed
        return is_followed and partition.leader_epoch == leader_epoch

    def _cut(
        self,
        key: TopicIdPartition,
        partition: Partition,
        change: Callable[[ErrandDone], bool],
        then: Callable[[], None] | None = None,
    ) -> None:
        """Has the log cut, and goes on with `then`, or the next fetch, once that is on the disk."""
        self._ready.pop(key, None)
        leader_epoch = partition.leader_epoch

        def done(problem: StorageError | None) -> None:
            if problem is not None:
                self._wait_for_metadata(key)
                self._logs.failed(problem)
            elif not self._is_current(key, partition, leader_epoch):
                return
            elif then is not None:
                then()
            else:
                self._make_ready(key, partition)

        if not change(done):
            self._delay(key)

    # Waiting

    def _wait_for_metadata(self, key: TopicIdPartition) -> None:
        self._ready.pop(key, None)
        self._delayed.pop(key, None)

    def _delay(self, key: TopicIdPartition, backoff_ms: int | None = None) -> None:
        if key not in self._partitions:
            return
        self._ready.pop(key, None)
        due = self._delayed[key] = self._loop.time() + (self._backoff_ms() if backoff_ms is None else backoff_ms) / 1000
        if self._timer is None or due < self._timer_due:
            self._wake_at(due)

    def _wake_at(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._timer_due = self._loop.call_at(due, self._resume), due

    def _resume(self) -> None:
        self._timer = None
        now = self._loop.time()
        for key, due in list(self._delayed.items()):
            if due <= now:
                del self._delayed[key]
                partition = self._partitions[key]
                self._begin(key, partition, partition.leader_epoch)
        if self._delayed:
            self._wake_at(min(self._delayed.values()))
