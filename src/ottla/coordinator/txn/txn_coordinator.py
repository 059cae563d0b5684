"""The face of the transaction coordinator: one method per API, requests in, responses out.

Finds the shard of a transactional id, checks what needs no state, and puts codes into the words of each version.
Authorization is the handlers' business. Every `done` is called once, maybe within the call.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.coordinator.ports import MarkerSender, MetadataView, PartitionKey, ProducerIds, ShardLog
from ottla.coordinator.runtime.routing import partition_for
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.coordinator.txn.add_partitions import AddAnswer, AddTask, tasks_of
from ottla.coordinator.txn.answer import END_V2, FENCED, answer_end, answer_init, answer_new_id, code_of, expected_of
from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.end_transaction import EndClaim
from ottla.coordinator.txn.init_producer import InitClaim, ProducerIdAndEpoch
from ottla.coordinator.txn.listing import described, filter_of, listed, undescribed
from ottla.coordinator.txn.marker_queue import MarkerQueue
from ottla.coordinator.txn.transaction_metadata import (
    TIMEOUT_MS_MAX,
    TRANSACTIONS_V2,
)
from ottla.coordinator.txn.transactions import AddClaim, Transactions, TxnContext
from ottla.coordinator.txn.txn_machine import TxnState
from ottla.protocol.errors import (
    ApiError,
    ErrorCode,
    InvalidRequestError,
    InvalidTransactionTimeoutError,
    TransactionalIdAuthorizationFailedError,
    UnsupportedVersionError,
)
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ottla.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from ottla.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse

TRANSACTION_TOPIC: Final = "__transaction_state"
OFFSETS_TOPIC: Final = "__consumer_offsets"


@frozen
class TxnOutside:
    """The ports of the coordinator. The clock is for answers of the others, which bring no time with them."""

    metadata: MetadataView
    producer_ids: ProducerIds
    marker_sender: MarkerSender
    clock: Clock
    is_metadata_complete: Callable[[], bool]
    """See `MarkerQueue`."""


@frozen
class ShardHooks:
    """The log of each shard: `start_load` has it fed into the shard, `wants_flush` asks for the end of a round."""

    open_log: Callable[[int, int], ShardLog]
    """From a partition and its leader epoch."""
    start_load: Callable[[Shard[TxnState]], None]
    wants_flush: Callable[[], None]


class TxnCoordinator:
    """All transactional ids whose partition of `__transaction_state` this broker leads."""

    def __init__(self, config: TxnConfig, outside: TxnOutside, hooks: ShardHooks) -> None:
        self._config: Final = config
        self._metadata: Final = outside.metadata
        self._producer_ids: Final = outside.producer_ids
        self._hooks: Final = hooks
        self.markers: Final = MarkerQueue(
            outside.marker_sender, outside.metadata, outside.clock, outside.is_metadata_complete
        )
        self.shards: Final[ShardSet[TxnState]] = ShardSet(self._open_shard, hooks.start_load, hooks.wants_flush)
        self._surroundings: Final = TxnContext(
            config=config,
            metadata=outside.metadata,
            producer_ids=outside.producer_ids,
            markers=self.markers,
            clock=outside.clock,
            coordinator_epoch=self.shards.leader_epoch,
        )
        self._transactions: dict[int, Transactions] = {}

    def partition_for(self, transactional_id: str) -> int:
        """The partition of `__transaction_state` that an id belongs to."""
        return self._route(TRANSACTION_TOPIC, transactional_id, self._config.transaction_topic_partitions)

    def offsets_partition_for(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that a group belongs to."""
        return self._route(OFFSETS_TOPIC, group_id, self._config.offsets_topic_partitions)

    # What producers ask for

    def init_producer_id(
        self, request: InitProducerIdRequest, version: int, now_ms: int, done: Callable[[InitProducerIdResponse], None]
    ) -> None:
        """InitProducerId, with a transactional id or without."""
        answer = partial(answer_init, done, version)
        try:
            expected = expected_of(request)
            if request.transactional_id is None:
                self._producer_ids.next(partial(answer_new_id, answer))
                return
            timeout_ms = self._checked_timeout_ms(request)
            claim = InitClaim(request.transactional_id, timeout_ms, expected)
            self._find(claim.transactional_id).init_producer_id(claim, answer, now_ms)
        except ApiError as refusal:
            answer(refusal)

    def add_partitions_to_txn(
        self,
        request: AddPartitionsToTxnRequest,
        version: int,
        now_ms: int,
        done: Callable[[AddPartitionsToTxnResponse], None],
        unauthorized_topics: frozenset[str] = frozenset(),
    ) -> None:
        """AddPartitionsToTxn: from producers up to v3, from brokers after that."""
        tasks = tasks_of(request, version)
        if not tasks:
            done(AddPartitionsToTxnResponse())
            return
        answer = AddAnswer(version, [task.claim.transactional_id for task in tasks], done)
        for task in tasks:
            refused = self._refused(task.claim, unauthorized_topics)
            if refused is not None:
                answer.add(task.claim.transactional_id, refused)
            else:
                self._run(task, version, answer, now_ms)

    def add_offsets_to_txn(
        self,
        request: AddOffsetsToTxnRequest,
        version: int,
        now_ms: int,
        done: Callable[[AddOffsetsToTxnResponse], None],
    ) -> None:
        """AddOffsetsToTxn: the group's partition of `__consumer_offsets` joins the transaction."""

        def answer(result: ApiError | None) -> None:
            done(AddOffsetsToTxnResponse(error_code=code_of(result, version, FENCED)))

        partition = PartitionKey(OFFSETS_TOPIC, self.offsets_partition_for(request.group_id))
        producer = ProducerIdAndEpoch(request.producer_id, request.producer_epoch)
        claim = AddClaim(request.transactional_id, producer, frozenset({partition}))
        try:
            self._find(claim.transactional_id).add_partitions(claim, answer, now_ms)
        except ApiError as refusal:
            answer(refusal)

    def end_txn(
        self, request: EndTxnRequest, version: int, now_ms: int, done: Callable[[EndTxnResponse], None]
    ) -> None:
        """EndTxn: answered when the outcome is committed, while the markers are still on their way."""
        answer = partial(answer_end, done, version)
        # A log without room for the next producer id can't serve transactions v2.
        is_v2 = version >= END_V2 and self._metadata.feature_level("transaction.version") >= 1
        claim = EndClaim(
            transactional_id=request.transactional_id,
            producer=ProducerIdAndEpoch(request.producer_id, request.producer_epoch),
            committed=request.committed,
            client_version=TRANSACTIONS_V2 if is_v2 else 0,
        )
        try:
            self._find(claim.transactional_id).end(claim, answer, now_ms)
        except ApiError as refusal:
            answer(refusal)

    # What operators ask for

    def list_transactions(self, request: ListTransactionsRequest, now_ms: int) -> ListTransactionsResponse:
        """ListTransactions: the ids of all shards, which must all be loaded."""
        try:
            wanted, unknown = filter_of(request)
            found = [
                entry
                for shard in self.shards
                if shard.status in (ShardStatus.LOADING, ShardStatus.ACTIVE)
                for entry in shard.read(partial(listed, wanted, now_ms))
            ]
        except ApiError as refusal:
            return ListTransactionsResponse(error_code=refusal.code)
        return ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=found)

    def describe_transactions(self, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
        """DescribeTransactions: each id on its own."""
        return DescribeTransactionsResponse(
            transaction_states=[self._describe(transactional_id) for transactional_id in request.transactional_ids]
        )

    # Time and news

    def poll(self, now_ms: int) -> None:
        """Runs the timers that are due, and tries markers again."""
        self.shards.poll(now_ms)
        self.markers.poll(now_ms)

    @property
    def next_ms(self) -> int | None:
        """The next time to call `poll`; None for never."""
        times = [time_ms for time_ms in (self.shards.next_ms, self.markers.next_ms) if time_ms is not None]
        return min(times, default=None)

    def metadata_changed(self) -> None:
        """There is a new image: leaders may have moved, and topics may be gone."""
        self.markers.metadata_changed()

    def _open_shard(self, partition: int, leader_epoch: int) -> Shard[TxnState]:
        log = self._hooks.open_log(partition, leader_epoch)
        transactions = self._transactions[partition] = Transactions(partition, log, self._surroundings)
        return transactions.shard

    def _find(self, transactional_id: str) -> Transactions:
        """The transactions that an id is among; refuses an empty one."""
        if not transactional_id:
            raise InvalidRequestError
        partition = self.partition_for(transactional_id)
        self.shards.get(partition)
        return self._transactions[partition]

    def _route(self, topic: str, coordinator_id: str, partition_count: int) -> int:
        view = self._metadata.topic(topic)
        return partition_for(coordinator_id, partition_count if view is None else view.partition_count)

    def _checked_timeout_ms(self, request: InitProducerIdRequest) -> int:
        if not request.transactional_id:
            raise InvalidRequestError
        if request.enable2_pc and not self._config.is_two_phase_commit_enabled:
            raise TransactionalIdAuthorizationFailedError
        if request.keep_prepared_txn:
            # KIP-939 is half-way: 4.3 has the field and refuses it.
            raise UnsupportedVersionError
        if request.enable2_pc:
            return TIMEOUT_MS_MAX
        if not 0 < request.transaction_timeout_ms <= self._config.transaction_timeout_ms_max:
            raise InvalidTransactionTimeoutError
        return request.transaction_timeout_ms

    def _refused(self, claim: AddClaim, unauthorized_topics: frozenset[str]) -> dict[PartitionKey, int] | None:
        """The codes of a transaction's partitions if one of them can't be added: then none is."""
        codes: dict[PartitionKey, int] = {}
        for key in claim.partitions:
            if key.topic in unauthorized_topics:
                codes[key] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            elif self._metadata.partition_leader(key.topic, key.partition) is None:
                codes[key] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not codes:
            return None
        return {key: codes.get(key, ErrorCode.OPERATION_NOT_ATTEMPTED) for key in claim.partitions}

    def _run(self, task: AddTask, version: int, answer: AddAnswer, now_ms: int) -> None:
        claim = task.claim

        def answer_all(result: ApiError | None) -> None:
            answer.add_all(task, code_of(result, version, FENCED))

        try:
            transactions = self._find(claim.transactional_id)
            if task.is_verify_only:
                verified = transactions.verify_partitions(claim)
                answer.add(claim.transactional_id, {key: code_of(verified[key], version, FENCED) for key in verified})
            else:
                transactions.add_partitions(claim, answer_all, now_ms)
        except ApiError as refusal:
            answer_all(refusal)

    def _describe(self, transactional_id: str) -> TransactionState:
        try:
            return described(transactional_id, self._find(transactional_id).describe(transactional_id))
        except ApiError as refusal:
            return undescribed(transactional_id, refusal.code)
