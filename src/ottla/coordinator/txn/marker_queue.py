"""Takes markers to the partitions' leaders, again and again until each is acknowledged.

A transaction counts as ended only if every partition has its marker: a partition left out keeps its readers waiting
for ever, with an acknowledged commit invisible. So a partition is struck off without a marker in two cases alone: when
metadata that is known to be complete has no such partition any more, and when its leader answers
INVALID_PRODUCER_EPOCH. That leader has a later epoch of this producer in its log, so the transaction is over there (an
operator ended it with WriteTxnMarkers, say), and it will refuse this marker for ever. Apache Kafka stops sending then,
and the transaction stays prepared until its coordinator moves. A leader that is unknown, dead, or answers with any
other error is asked again later.

A broker has at most one request under way; what comes up meanwhile shares the next one, and no request names a
producer twice, since answers are by producer.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Final

from ottla.base.clock import Clock
from ottla.coordinator.ports import MarkerErrors, MarkerSender, MarkersToSend, MetadataView, PartitionKey
from ottla.coordinator.txn.marker_job import MarkerJob
from ottla.protocol.errors import ApiError, ErrorCode

_log = logging.getLogger(__name__)

RETRY_MS_MIN: Final = 50
RETRY_MS_MAX: Final = 2_000


class MarkerQueue:
    """All markers that this broker's transaction coordinators have to send."""

    def __init__(
        self, sender: MarkerSender, metadata: MetadataView, clock: Clock, is_metadata_complete: Callable[[], bool]
    ) -> None:
        """`is_metadata_complete`: whether the metadata holds everything up to this broker's own registration.

        Before that a topic may seem not to exist because its creation was not read yet. Never turns back to False.
        """
        self._sender: Final = sender
        self._metadata: Final = metadata
        self._is_metadata_complete: Final = is_metadata_complete
        self._clock: Final = clock
        self._queued: dict[int, dict[MarkerJob, set[PartitionKey]]] = {}
        self._in_flight: set[int] = set()
        self._retries: list[tuple[int, int, MarkerJob]] = []
        self._sequence = 0
        self._is_sending = False

    @property
    def next_ms(self) -> int | None:
        """The next time to call `poll`; None for never."""
        return self._retries[0][0] if self._retries else None

    @property
    def unknown_destination_count(self) -> int:
        """The number of transactions whose markers wait for a leader (`UnknownDestinationQueueSize`)."""
        return sum(1 for due_ms, _, job in self._retries if _is_due(job, due_ms))

    def start(self, job: MarkerJob) -> None:
        """Sends the markers of a transaction whose outcome is committed."""
        self._route(job, job.remaining)
        self._finish(job)
        self._send()

    def cancel(self, job: MarkerJob) -> None:
        """This coordinator has no say in the transaction any more."""
        job.is_over = True

    def poll(self, now_ms: int) -> None:
        """Tries again what is due."""
        due: list[MarkerJob] = []
        while self._retries and self._retries[0][0] <= now_ms:
            due_ms, _, job = heappop(self._retries)
            if _is_due(job, due_ms):
                due.append(job)
        self._retry(due)

    def metadata_changed(self) -> None:
        """Leaders may have moved: what waits, or is queued behind a request, goes where it belongs now."""
        waiting = [job for due_ms, _, job in self._retries if _is_due(job, due_ms)]
        self._retries.clear()
        queued, self._queued = self._queued, {}
        for entries in queued.values():
            for job, partitions in entries.items():
                if not job.is_over:
                    self._route(job, partitions)
                    self._finish(job)
        for job in waiting:
            job.attempts = 0
        self._retry(waiting)

    def _retry(self, jobs: Iterable[MarkerJob]) -> None:
        for job in jobs:
            partitions, job.waiting, job.due_ms = job.waiting, set(), None
            self._route(job, partitions)
            self._finish(job)
        self._send()

    def _route(self, job: MarkerJob, partitions: Iterable[PartitionKey]) -> None:
        """Queues each partition for its leader."""
        view = self._metadata
        unknown: list[PartitionKey] = []
        for key in sorted(partitions):
            leader = view.partition_leader(key.topic, key.partition)
            if leader is None and self._is_metadata_complete():
                _log.info("%s-%d is deleted and needs no marker of %s", *key, job.transactional_id)
                job.remaining.discard(key)
            elif leader is None or leader.broker_id < 0 or not view.is_broker_alive(leader.broker_id):
                unknown.append(key)
            else:
                self._queued.setdefault(leader.broker_id, {}).setdefault(job, set()).add(key)
        if unknown:
            self._wait(job, unknown)

    def _wait(self, job: MarkerJob, partitions: Iterable[PartitionKey]) -> None:
        job.waiting.update(partitions)
        if job.due_ms is None:
            job.due_ms = self._clock.now_ms() + min(RETRY_MS_MIN << min(job.attempts, 10), RETRY_MS_MAX)
            job.attempts += 1
            self._sequence += 1
            heappush(self._retries, (job.due_ms, self._sequence, job))

    def _send(self) -> None:
        """One request to each broker that is free; answers may come before `send` returns."""
        if self._is_sending:
            return
        self._is_sending = True
        try:
            while (broker_id := self._next_broker()) is not None:
                entries = [
                    (job, tuple(sorted(partitions)))
                    for job, partitions in self._queued.pop(broker_id).items()
                    if not job.is_over
                ]
                if entries:
                    self._in_flight.add(broker_id)
                    markers = [MarkersToSend(job.marker, partitions) for job, partitions in entries]
                    self._sender.send(broker_id, markers, partial(self._answered, broker_id, entries))
        finally:
            self._is_sending = False

    def _next_broker(self) -> int | None:
        return next((broker_id for broker_id in self._queued if broker_id not in self._in_flight), None)

    def _answered(
        self,
        broker_id: int,
        entries: Sequence[tuple[MarkerJob, tuple[PartitionKey, ...]]],
        answer: MarkerErrors | ApiError,
    ) -> None:
        self._in_flight.discard(broker_id)
        for index, (job, partitions) in enumerate(entries):
            if job.is_over:
                continue
            if isinstance(answer, ApiError) or index >= len(answer):
                self._wait(job, partitions)
                continue
            codes = answer[index]
            refused = [key for key in partitions if not self._is_settled(job, key, codes.get(key))]
            job.remaining.difference_update(set(partitions).difference(refused))
            if refused:
                _log.info(
                    "Markers of %s were refused by broker %d and go again: %s",
                    job.transactional_id,
                    broker_id,
                    {f"{key.topic}-{key.partition}": codes.get(key) for key in refused},
                )
                self._wait(job, refused)
            else:
                job.attempts = 0
            self._finish(job)
        self._send()

    @staticmethod
    def _is_settled(job: MarkerJob, key: PartitionKey, code: int | None) -> bool:
        """Whether the partition has the marker, or can never take it."""
        if code == ErrorCode.INVALID_PRODUCER_EPOCH:
            _log.warning(
                "%s-%d has a later epoch of producer %d than the marker of %s, epoch %d; its transaction is over there",
                *key,
                job.marker.producer_id,
                job.transactional_id,
                job.marker.producer_epoch,
            )
        return code in (ErrorCode.NONE, ErrorCode.INVALID_PRODUCER_EPOCH)

    def _finish(self, job: MarkerJob) -> None:
        if not job.remaining and not job.is_over:
            job.is_over = True
            job.written(job)


def _is_due(job: MarkerJob, due_ms: int) -> bool:
    return not job.is_over and job.due_ms == due_ms
