"""A producer's transactions: begun, filled, committed or aborted, in both of Kafka's versions (KIP-98, KIP-890).

Owns the state and what the coordinator has been told. In version 1 partitions are added before the first write to them,
in version 2 the write adds them, and every end gives the next epoch. A failure inside of a transaction allows abort
alone; a fatal one (the producer is fenced) ends everything. It is the sender's gate: nothing leaves without an id.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import any_thread, one_thread
from ottla.client.cluster.error_code import error_codes
from ottla.client.errors import CommitFailedError
from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.sequence import ProducerIdentity, SequenceLedger
from ottla.client.producer.transaction.coordinator import TransactionCoordinator
from ottla.client.producer.transaction.offset import OffsetSender
from ottla.client.producer.transaction.state import TRANSITIONS, TransactionState
from ottla.client.producer.transaction_error import (
    FATAL_CODES,
    OUTDATED_CODES,
    TransactionAbortedError,
    TransactionFailedError,
    TransactionStateError,
    explained,
    outdated,
)
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_S = TransactionState
_LAST_BY_PRODUCER: Final = {ApiKey.ADD_PARTITIONS_TO_TXN: 3, ApiKey.END_TXN: 4}
"""Versions of transactions v1: later ones are for brokers, or for transactions v2."""

Fail = Callable[[ProducerBatch, Exception], None]


@one_thread
class TransactionManager:
    """The transactions of one producer; all calls in its event loop."""

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        ledger: SequenceLedger,
        accumulator: Accumulator,
        timeout_ms: int,
        fail: Fail,
    ) -> None:
        self.state = _S.UNINITIALIZED
        self.error: Exception | None = None
        """The cause of the error state."""
        self.uses_transactions_v2 = False
        self.run_sender: Callable[[], None] = lambda: None
        self._coordinator: Final = coordinator
        self._ledger: Final = ledger
        self._accumulator: Final = accumulator
        self._timeout_ms: Final = timeout_ms
        self._fail: Final = fail
        self._has_begun = False
        """Whether the coordinator may know of the transaction."""
        self._needs_new_epoch = False
        self._added: Final[set[PartitionQueue]] = set()
        self._to_add: Final[dict[PartitionQueue, None]] = {}
        self._adding: asyncio.Task[None] | None = None

    def before_run(self) -> bool:
        """Whether there is an id."""
        gaps = self._ledger.resolve()
        if gaps and self.state in (_S.IN_TRANSACTION, _S.COMMITTING):
            where = ", ".join(str(queue.topic_partition) for queue in gaps)
            self._needs_new_epoch = True
            self._fail_transaction(TransactionFailedError(f"records for {where} may be missing"))
        return not self._ledger.needs_identity and self.state is not _S.FATAL_ERROR

    def may_send(self, queue: PartitionQueue) -> bool:
        """Whether the partition is part of the transaction; adds it if not."""
        if queue in self._added:
            return True
        if self.state is not _S.IN_TRANSACTION and self.state is not _S.COMMITTING:
            return False
        if self.uses_transactions_v2:
            self._added.add(queue)
            self._has_begun = True
            return True
        self._to_add[queue] = None
        if self._adding is None:
            self._adding = asyncio.get_running_loop().create_task(self._add_partitions())
        return False

    async def init(self) -> None:
        """Takes the transactional id over: aborts what a predecessor left, fences it, gets an id and epoch."""
        self._check_usable()
        if self.state is not _S.INITIALIZING:
            self._go(_S.INITIALIZING)
        try:
            await self._init_producer_id(ProducerIdentity())
        except BaseException:
            if self.state is _S.INITIALIZING:
                self._go(_S.UNINITIALIZED)
            raise
        self._go(_S.READY)

    def begin(self) -> None:
        """Starts a transaction; the brokers hear of it with its first record."""
        self._check_usable()
        if self.state is _S.UNINITIALIZED or self.state is _S.INITIALIZING:
            raise TransactionStateError("init_transactions() has to be called before the first transaction")
        self._go(_S.IN_TRANSACTION)
        self._accumulator.is_open = True

    async def commit(self, flush: Callable[[], "asyncio.Future[None]"]) -> None:
        """Waits for all records, then commits; may be called again after a time-out."""
        self._check_usable()
        self._check_not_failed()
        if self.state is not _S.COMMITTING:
            self._go(_S.COMMITTING)
        self._accumulator.is_open = False
        await flush()
        self._check_usable()
        self._check_not_failed()
        await self._end(is_commit=True)

    async def abort(self, flush: Callable[[], "asyncio.Future[None]"]) -> None:
        """Drops what was not sent, then aborts; may be called again after a time-out."""
        self._check_usable()
        if self.state is not _S.ABORTING:
            self._go(_S.ABORTING)
        self._accumulator.is_open = False
        self._drop_waiting(TransactionAbortedError("the transaction was aborted before the record was sent"))
        await flush()
        self._check_usable()
        await self._end(is_commit=False)

    async def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: object) -> None:
        """Makes a consumer's positions part of the transaction."""
        self._check_usable()
        self._check_not_failed()
        if self.state is not _S.IN_TRANSACTION:
            raise TransactionStateError("send_offsets_to_transaction() belongs between begin and commit")
        if not offsets:
            return
        sender = OffsetSender(self._coordinator, self._ledger.identity, is_v2=self.uses_transactions_v2)
        had_begun, self._has_begun = self._has_begun, True
        try:
            await sender.send(offsets, group)
        except CommitFailedError as error:
            self._fail_transaction(error)
            raise
        except ApiError as error:
            self._has_begun = had_begun or sender.is_begun
            self._refused(error)
            raise self.error or error from None

    def batch_failed(self, batch: ProducerBatch, error: Exception) -> Exception:
        """A batch was given up: the transaction can't be committed any more. Returns the reason in better words."""
        if batch.has_sequence:
            # Whether the broker has it or not: its numbers may be a gap for the next transaction.
            self._needs_new_epoch = True
        if isinstance(error, ApiError) and error.code in OUTDATED_CODES:
            error = outdated(error, self._coordinator.transactional_id)
        elif isinstance(error, ApiError) and error.code in FATAL_CODES:
            self._refused(error)
            return explained(error, self._coordinator.transactional_id)
        if self.state in (_S.IN_TRANSACTION, _S.COMMITTING):
            self._fail_transaction(error)
        return error

    @any_thread
    def check_may_send(self) -> None:
        """Raises why records can't be sent now."""
        self._check_usable()
        self._check_not_failed()
        if self.state is not _S.IN_TRANSACTION:
            raise TransactionStateError(
                "a producer with a transactional.id sends inside of transactions only: begin one"
            )

    async def close(self) -> None:
        """Cancels requests under way."""
        if self._adding is not None:
            self._adding.cancel()
            await asyncio.wait((self._adding,))

    def _go(self, state: TransactionState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise TransactionStateError(
                f"not possible while the producer is {self.state.name.lower().replace('_', ' ')}: "
                f"next would be {state.name.lower().replace('_', ' ')}"
            )
        self.state = state

    def _check_usable(self) -> None:
        if self.state is _S.FATAL_ERROR and self.error is not None:
            raise self.error

    def _check_not_failed(self) -> None:
        if self.state is _S.ABORTABLE_ERROR and self.error is not None:
            raise TransactionFailedError(
                f"the transaction failed, abort it before the next one: {self.error}"
            ) from self.error

    async def _init_producer_id(self, known: ProducerIdentity) -> None:
        request = InitProducerIdRequest(
            transactional_id=self._coordinator.transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=known.producer_id,
            producer_epoch=known.epoch,
        )
        connection = await self._coordinator.connection()
        self.uses_transactions_v2 = self._coordinator.serves_transactions_v2(connection)
        # v6 is for two-phase commit and still unstable.
        version = min(5, connection.version_of(ApiKey.INIT_PRODUCER_ID))
        response = await self._coordinator.ask(request, InitProducerIdResponse, version)
        if response.error_code:
            error = error_for(response.error_code)
            self._become_fatal(error)
            raise self.error or error
        self._ledger.restart_all(ProducerIdentity(response.producer_id, response.producer_epoch))

    async def _add_partitions(self) -> None:
        try:
            while self._to_add and self.state in (_S.IN_TRANSACTION, _S.COMMITTING):
                queues = list(self._to_add)
                error = await self._add(queues)
                for queue in queues:
                    self._to_add.pop(queue, None)
                if isinstance(error, ApiError):
                    self._refused(error)
                    return
                if error is not None:
                    self._fail_transaction(error)
                    return
                self._has_begun = True
                self._added.update(queues)
                for queue in queues:
                    self._accumulator.mark_ready(queue)
        finally:
            self._adding = None
            self.run_sender()

    async def _add(self, queues: list[PartitionQueue]) -> OttlaError | None:
        topics: dict[str, list[int]] = {}
        for queue in queues:
            topics.setdefault(queue.topic, []).append(queue.partition)
        identity = self._ledger.identity
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._coordinator.transactional_id,
            v3_and_below_producer_id=identity.producer_id,
            v3_and_below_producer_epoch=identity.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=partitions) for name, partitions in topics.items()
            ],
        )
        try:
            version = await self._v1_version(ApiKey.ADD_PARTITIONS_TO_TXN)
            response = await self._coordinator.ask(request, AddPartitionsToTxnResponse, version)
        except OttlaError as error:
            return error
        return _refusal(response)

    async def _v1_version(self, api: ApiKey) -> int:
        connection = await self._coordinator.connection()
        return min(_LAST_BY_PRODUCER[api], connection.version_of(api))

    async def _end(self, *, is_commit: bool) -> None:
        if self._has_begun:
            await self._end_on_broker(is_commit=is_commit)
        self._added.clear()
        self._to_add.clear()
        self._has_begun = False
        if self._needs_new_epoch and not is_commit and not self.uses_transactions_v2:
            await self._init_producer_id(self._ledger.identity)
        self._needs_new_epoch = False
        self.error = None
        self._go(_S.READY)

    async def _end_on_broker(self, *, is_commit: bool) -> None:
        identity = self._ledger.identity
        request = EndTxnRequest(
            transactional_id=self._coordinator.transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=is_commit,
        )
        version = None if self.uses_transactions_v2 else await self._v1_version(ApiKey.END_TXN)
        try:
            response = await self._coordinator.ask(request, EndTxnResponse, version)
            if response.error_code:
                raise error_for(response.error_code)
        except ApiError as error:
            self._refused(error)
            raise self.error or error from None
        if self.uses_transactions_v2 and response.producer_id >= 0:
            self._ledger.restart_all(ProducerIdentity(response.producer_id, response.producer_epoch))

    def _refused(self, error: ApiError) -> None:
        if error.code in (ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_ID_MAPPING):
            # The coordinator has forgotten the id (KIP-360): abort, then take a new epoch.
            self._needs_new_epoch = True
            self._fail_transaction(error)
        elif error.code in FATAL_CODES or self.state is _S.ABORTING:
            self._become_fatal(error)
        else:
            self._fail_transaction(error)

    def _fail_transaction(self, error: Exception) -> None:
        if self.state is _S.FATAL_ERROR:
            return
        if _S.ABORTABLE_ERROR not in TRANSITIONS[self.state]:
            self._become_fatal(error)
            return
        if self.state is not _S.ABORTABLE_ERROR:
            self.error = error
        self._go(_S.ABORTABLE_ERROR)
        self._accumulator.is_open = False
        dropped = TransactionAbortedError(f"the record was not sent, since its transaction failed: {error}")
        dropped.__cause__ = error
        self._drop_waiting(dropped)

    def _become_fatal(self, error: Exception) -> None:
        if self.state is _S.FATAL_ERROR:
            return
        self.error = explained(error, self._coordinator.transactional_id) if isinstance(error, ApiError) else error
        self._go(_S.FATAL_ERROR)
        self._accumulator.is_open = False
        for batch in self._accumulator.remove_waiting():
            self._fail(batch, self.error)

    def _drop_waiting(self, error: OttlaError) -> None:
        """Fails what no broker has seen; what one may have seen has to come to its end first."""
        for batch in self._accumulator.remove_waiting():
            if batch.has_sequence:
                self._accumulator.put_back(batch)
            else:
                self._fail(batch, error)


def _refusal(response: AddPartitionsToTxnResponse) -> ApiError | None:
    """Why partitions were not added, and which topics that is about."""
    codes = error_codes(response)
    if not codes:
        return None
    error = error_for(min(codes))
    names = sorted(
        topic.name
        for topic in response.results_by_topic_v3_and_below
        if any(each.partition_error_code == error.code for each in topic.results_by_partition)
    )
    return error_for(min(codes), f"{', '.join(names)}: {error}") if names else error
