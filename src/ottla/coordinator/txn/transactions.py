"""The transactions of one shard: decides, has markers sent, completes, times out, forgets.

Decisions are made on the newest state and answered once the records that they rest on are committed, refusals too: a
producer must not be fenced by an epoch that may yet be lost. Markers leave only when the outcome is committed, and the
completion is written only when every marker is acknowledged; after a load both continue where they stopped.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.coordinator.ports import MetadataView, PartitionKey, ProducerIds, ShardLog
from ottla.coordinator.runtime.coordinator_result import NOTHING, CoordinatorResult, Done
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.coordinator.runtime.timers import Timers
from ottla.coordinator.txn import end_transaction, init_producer
from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.end_transaction import EndClaim, decide_end
from ottla.coordinator.txn.init_producer import InitClaim, InitContext, ProducerIdAndEpoch, decide_init
from ottla.coordinator.txn.last_epoch import LastEpochs
from ottla.coordinator.txn.marker_job import MarkerJob
from ottla.coordinator.txn.marker_queue import MarkerQueue
from ottla.coordinator.txn.state import ENDING, TransactionState
from ottla.coordinator.txn.transaction_metadata import (
    NO_PRODUCER_ID,
    TRANSACTIONS_V2,
    TransactionMetadata,
    record_of,
    tombstone_of,
)
from ottla.coordinator.txn.transactional_id_expiry import TransactionalIdExpiry
from ottla.coordinator.txn.transition import Transition, added, completed, fenced
from ottla.coordinator.txn.txn_machine import TxnMachine, TxnState
from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import (
    ApiError,
    ConcurrentTransactionsError,
    InvalidProducerIdMappingError,
    ProducerFencedError,
    TransactionAbortableError,
    TransactionalIdNotFoundError,
)

_log = logging.getLogger(__name__)

RETRY_MS: Final = 500
"""After how long a completion or an abort that could not be written is tried again."""
_RESUME: Final = "resume"
_EXPIRY: Final = "expiry"


@frozen
class TxnContext:
    """The objects that all shards of a coordinator share."""

    config: TxnConfig
    metadata: MetadataView
    producer_ids: ProducerIds
    markers: MarkerQueue
    clock: Clock
    coordinator_epoch: Callable[[int], int]
    """Since which epoch this broker leads a partition of the transaction log."""


class AddClaim(NamedTuple):
    """A producer's request to add partitions to its transaction."""

    transactional_id: str
    producer: ProducerIdAndEpoch
    partitions: frozenset[PartitionKey]
    client_version: int = 0


class Transactions:
    """The operations of one shard, with its soft state."""

    def __init__(self, partition: int, log: ShardLog, context: TxnContext) -> None:
        self._around: Final = context
        self._timers: Final = Timers()
        self._last_epochs: Final = LastEpochs()
        self._jobs: Final[dict[str, MarkerJob]] = {}
        self._id_expiry = TransactionalIdExpiry(context.config.id_expiration_ms)
        self.shard: Final[Shard[TxnState]] = Shard(
            partition, TxnMachine(self), log, self._timers, write_timeout_ms=context.config.write_timeout_ms
        )

    # What producers ask for

    def init_producer_id(self, claim: InitClaim, done: Done, now_ms: int) -> None:
        """Answers with a `ProducerIdAndEpoch`, or an `ApiError`."""
        operation = partial(self._init, claim)
        before = self._newest(claim.transactional_id)
        if init_producer.needs_producer_id(before, claim, self._server_version):
            self._write_with_producer_id(operation, done, now_ms)
        else:
            self.shard.write(partial(operation, NO_PRODUCER_ID), done, now_ms)

    def add_partitions(self, claim: AddClaim, done: Done, now_ms: int) -> None:
        """Answers with None once the partitions are part of the transaction, or with an `ApiError`."""
        self.shard.write(partial(self._add, claim), done, now_ms)

    def verify_partitions(self, claim: AddClaim) -> dict[PartitionKey, ApiError | None]:
        """Which of the partitions are part of the transaction (KIP-890); raises what is wrong with all of them."""
        metadata = _owned(self.shard.read(_look_up(claim.transactional_id)), claim.producer)
        if metadata.state in ENDING:
            raise ConcurrentTransactionsError
        missing = TransactionAbortableError()
        return {key: None if key in metadata.partitions else missing for key in claim.partitions}

    def end(self, claim: EndClaim, done: Done, now_ms: int) -> None:
        """Answers with the `ProducerIdAndEpoch` to go on with, once the outcome is committed, or an `ApiError`."""
        operation = partial(self._end, claim)
        if end_transaction.needs_producer_id(self._newest(claim.transactional_id), claim):
            self._write_with_producer_id(operation, done, now_ms)
        else:
            self.shard.write(partial(operation, NO_PRODUCER_ID), done, now_ms)

    def describe(self, transactional_id: str) -> TransactionMetadata:
        """An id as it is committed; while it is ending, its partitions are those that lack a marker."""
        metadata = self.shard.read(_look_up(transactional_id))
        if metadata is None:
            raise TransactionalIdNotFoundError
        job = self._jobs.get(transactional_id)
        if job is not None and metadata.state in ENDING:
            return metadata._replace(partitions=frozenset(job.remaining))
        return metadata

    # The shard's life

    def loaded(self, state: TxnState, now_ms: int) -> None:
        """Sets up timers; markers go on as soon as what was loaded is committed."""
        for transactional_id, metadata in sorted(state.items()):
            self._watch(transactional_id, metadata)
        self._timers.set(_RESUME, now_ms, self._resume)
        self._timers.set(_EXPIRY, now_ms + self._around.config.id_expiration_interval_ms, self._expire)

    def unloaded(self) -> None:
        """Another coordinator goes on."""
        for job in self._jobs.values():
            self._around.markers.cancel(job)
        self._jobs.clear()
        self._last_epochs.clear()

    # Operations

    def _init(self, claim: InitClaim, new_id: int, state: TxnState, now_ms: int) -> CoordinatorResult:
        before = state.get(claim.transactional_id)
        last_epoch = self._last_epochs.of(claim.transactional_id, before)
        context = InitContext(last_epoch, self._server_version, new_id)
        try:
            step = decide_init(before, claim, context, now_ms)
        except ApiError as refusal:
            return CoordinatorResult(response=refusal)
        if step.metadata.state in ENDING:
            return self._ending(claim.transactional_id, step, ConcurrentTransactionsError())
        self._last_epochs.note(claim.transactional_id, step.metadata, step.last_epoch)
        response = ProducerIdAndEpoch(step.metadata.producer_id, step.metadata.producer_epoch)
        return CoordinatorResult([self._record(claim.transactional_id, step.metadata)], response)

    def _add(self, claim: AddClaim, state: TxnState, now_ms: int) -> CoordinatorResult:
        newest = state.get(claim.transactional_id)
        if newest is not None and newest.state in ENDING:
            # For any caller: the id and epoch to go on with are only sure when the markers are written.
            return CoordinatorResult(response=ConcurrentTransactionsError())
        try:
            before = _owned(newest, claim.producer)
        except ApiError as refusal:
            return CoordinatorResult(response=refusal)
        if before.state is TransactionState.ONGOING and claim.partitions <= before.partitions:
            return NOTHING
        after = added(before, claim.partitions, claim.client_version, now_ms)
        self._watch(claim.transactional_id, after)
        return CoordinatorResult([self._record(claim.transactional_id, after)])

    def _end(self, claim: EndClaim, new_id: int, state: TxnState, now_ms: int) -> CoordinatorResult:
        before = state.get(claim.transactional_id)
        if before is None:
            return CoordinatorResult(response=InvalidProducerIdMappingError())
        try:
            step = decide_end(before, claim, new_id, now_ms)
        except ApiError as refusal:
            return CoordinatorResult(response=refusal)
        if step is None:
            return CoordinatorResult(response=_producer_after(before))
        return self._ending(claim.transactional_id, step, _producer_after(step.metadata))

    def _ending(self, transactional_id: str, step: Transition, response: object) -> CoordinatorResult:
        """An outcome is decided: once it is committed the markers go."""
        if step.is_epoch_raised:
            self._last_epochs.note(transactional_id, step.metadata, step.last_epoch)
        record = self._record(transactional_id, step.metadata)
        return CoordinatorResult([record], response, partial(self._prepared, transactional_id))

    def _complete(self, job: MarkerJob, state: TxnState, now_ms: int) -> CoordinatorResult:
        before = state.get(job.transactional_id)
        if before is None or before != job.metadata:
            return NOTHING
        after = completed(before, now_ms)
        if after.producer_id != before.producer_id:
            last_epoch = self._last_epochs.of(job.transactional_id, before)
            self._last_epochs.note(job.transactional_id, after, last_epoch)
        record = self._record(job.transactional_id, after)
        return CoordinatorResult([record], settled=partial(self._completion_settled, job))

    def _time_out(self, transactional_id: str, new_id: int, state: TxnState, now_ms: int) -> CoordinatorResult:
        before = state.get(transactional_id)
        deadline_ms = None if before is None else before.deadline_ms
        if before is None or deadline_ms is None:
            return NOTHING
        if now_ms < deadline_ms:
            self._watch(transactional_id, before)
            return NOTHING
        version = self._server_version
        needs_id = before.is_epoch_exhausted and version >= TRANSACTIONS_V2
        if needs_id and new_id == NO_PRODUCER_ID:
            return CoordinatorResult(settled=lambda lost: self._fetch_id_for_abort(transactional_id))
        _log.info("Aborting the transaction of %s: it is open for more than %d ms", transactional_id, before.timeout_ms)
        step = fenced(before, version, new_id if needs_id else NO_PRODUCER_ID, now_ms)
        return self._ending(transactional_id, step, None)

    def _resume(self, state: TxnState, now_ms: int) -> CoordinatorResult:
        """Goes on with what an earlier coordinator had decided, once that is known to be committed."""
        ids = sorted(transactional_id for transactional_id, metadata in state.items() if metadata.state in ENDING)
        return CoordinatorResult(settled=partial(self._resumed, ids)) if ids else NOTHING

    def _expire(self, state: TxnState, now_ms: int) -> CoordinatorResult:
        expired = self._id_expiry.expired(state, now_ms)
        interval_ms = self._around.config.id_expiration_interval_ms
        self._timers.set(_EXPIRY, now_ms + (1 if self._id_expiry.is_under_way else interval_ms), self._expire)
        if not expired:
            return NOTHING
        for transactional_id in expired:
            self._last_epochs.forget(transactional_id)
        return CoordinatorResult([tombstone_of(transactional_id) for transactional_id in expired], is_atomic=False)

    # What follows once something is committed

    def _prepared(self, transactional_id: str, lost: ApiError | None) -> None:
        if lost is None:
            self._start_markers(transactional_id)

    def _resumed(self, ids: list[str], lost: ApiError | None) -> None:
        if lost is None:
            for transactional_id in ids:
                self._start_markers(transactional_id)

    def _start_markers(self, transactional_id: str) -> None:
        """Unless they are under way, or done: markers sent twice could end the producer's next transaction."""
        metadata = self._newest(transactional_id)
        if metadata is None or metadata.state not in ENDING or transactional_id in self._jobs:
            return
        epoch = partial(self._around.coordinator_epoch, self.shard.partition)
        job = self._jobs[transactional_id] = MarkerJob(transactional_id, metadata, epoch, self._markers_written)
        self._around.markers.start(job)

    def _markers_written(self, job: MarkerJob) -> None:
        self.shard.write(partial(self._complete, job), partial(self._completion_answered, job), self._now_ms)

    def _completion_answered(self, job: MarkerJob, result: object) -> None:
        if isinstance(result, ApiError) and self.shard.status is ShardStatus.ACTIVE:
            self._timers.set(("complete", job.transactional_id), self._now_ms + RETRY_MS, partial(self._complete, job))

    def _completion_settled(self, job: MarkerJob, lost: ApiError | None) -> None:
        if lost is None and self._jobs.get(job.transactional_id) is job:
            del self._jobs[job.transactional_id]

    # Producer ids and timers

    def _write_with_producer_id(
        self, operation: Callable[[int, TxnState, int], CoordinatorResult], done: Done, now_ms: int
    ) -> None:
        """Runs an operation with a new producer id, which may take a while to come."""
        if self.shard.status is not ShardStatus.ACTIVE:
            self.shard.write(partial(operation, NO_PRODUCER_ID), done, now_ms)
            return

        def with_id(result: int | ApiError) -> None:
            if isinstance(result, ApiError):
                done(result)
            else:
                self.shard.write(partial(operation, result), done, self._now_ms)

        self._around.producer_ids.next(with_id)

    def _fetch_id_for_abort(self, transactional_id: str) -> None:
        def with_id(result: int | ApiError) -> None:
            new_id = NO_PRODUCER_ID if isinstance(result, ApiError) else result
            delay_ms = RETRY_MS if isinstance(result, ApiError) else 0
            if self.shard.status is ShardStatus.ACTIVE:
                operation = partial(self._time_out, transactional_id, new_id)
                self._timers.set(("timeout", transactional_id), self._now_ms + delay_ms, operation)

        self._around.producer_ids.next(with_id)

    def _watch(self, transactional_id: str, metadata: TransactionMetadata) -> None:
        """Has an open transaction looked at when its time is up; by then it may have ended, or be another one."""
        if metadata.deadline_ms is not None:
            operation = partial(self._time_out, transactional_id, NO_PRODUCER_ID)
            self._timers.set(("timeout", transactional_id), metadata.deadline_ms, operation)

    def _newest(self, transactional_id: str) -> TransactionMetadata | None:
        return self.shard.state.get(transactional_id)

    def _record(self, transactional_id: str, metadata: TransactionMetadata) -> CoordinatorRecord:
        return record_of(transactional_id, metadata, self._server_version)

    @property
    def _server_version(self) -> int:
        return self._around.metadata.feature_level("transaction.version")

    @property
    def _now_ms(self) -> int:
        return self._around.clock.now_ms()


def _look_up(transactional_id: str) -> Callable[[TxnState], TransactionMetadata | None]:
    return lambda state: state.get(transactional_id)


def _owned(metadata: TransactionMetadata | None, producer: ProducerIdAndEpoch) -> TransactionMetadata:
    """The id's metadata, if the producer is its newest."""
    if metadata is None or metadata.producer_id != producer.producer_id:
        raise InvalidProducerIdMappingError
    if metadata.producer_epoch != producer.producer_epoch:
        raise ProducerFencedError
    return metadata


def _producer_after(metadata: TransactionMetadata) -> ProducerIdAndEpoch:
    """The producer's identity after the markers are written."""
    if metadata.next_producer_id != NO_PRODUCER_ID:
        return ProducerIdAndEpoch(metadata.next_producer_id, 0)
    return ProducerIdAndEpoch(metadata.producer_id, metadata.producer_epoch)
