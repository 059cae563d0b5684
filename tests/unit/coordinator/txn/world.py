"""A transaction coordinator with everything around it in memory: log, metadata, leaders, producer ids, time."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ottla.base.ids import Uuid
from ottla.coordinator.ports import (
    MarkerErrors,
    MarkersToSend,
    PartitionKey,
    PartitionLeader,
    TopicView,
)
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.transaction_metadata import record_of
from ottla.coordinator.txn.txn_coordinator import ShardHooks, TxnCoordinator, TxnOutside
from ottla.protocol.coordinator_record import CoordinatorLog
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest, TransactionState
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.unit.coordinator.runtime.fake import Answers, MemoryLog

ID = "orders-writer"
A0, A1, B0 = PartitionKey("a", 0), PartitionKey("a", 1), PartitionKey("b", 0)


class Time:
    """A `Clock` that stands still until it is set."""

    def __init__(self) -> None:
        self.ms = 1_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic_ms(self) -> int:
        return self.ms


class Cluster:
    """A `MetadataView`."""

    def __init__(self, transaction_version: int) -> None:
        self.transaction_version = transaction_version
        self.leaders: dict[PartitionKey, int] = {A0: 1, A1: 2, B0: 1, PartitionKey("__consumer_offsets", 0): 1}
        self.dead: set[int] = set()
        self.is_complete = True

    def topic(self, name: str) -> TopicView | None:
        return TopicView(name, Uuid(bytes(16)), 1) if name.startswith("__") else None

    def topic_by_id(self, topic_id: Uuid) -> TopicView | None:
        return None

    def topic_names(self) -> Iterable[str]:
        return sorted({key.topic for key in self.leaders})

    def partition_racks(self, topic: str, partition: int) -> frozenset[str]:
        return frozenset()

    def partition_leader(self, topic: str, partition: int) -> PartitionLeader | None:
        leader = self.leaders.get(PartitionKey(topic, partition))
        return None if leader is None else PartitionLeader(leader, 0)

    def is_broker_alive(self, broker_id: int) -> bool:
        return broker_id not in self.dead

    def feature_level(self, name: str) -> int:
        return self.transaction_version if name == "transaction.version" else 0

    def group_configs(self, group_id: str) -> Mapping[str, str]:
        return {}


class Ids:
    """`ProducerIds` from 1000 on; `waits` keeps them back, `error` refuses."""

    def __init__(self) -> None:
        self.given = 1_000
        self.error: ApiError | None = None
        self.waits = False
        self.waiting: list[Callable[[int | ApiError], None]] = []

    def next(self, done: Callable[[int | ApiError], None]) -> None:
        if self.waits:
            self.waiting.append(done)
            return
        if self.error is None:
            self.given += 1
        done(self.given if self.error is None else self.error)

    def release(self) -> None:
        self.waits = False
        waiting, self.waiting = self.waiting, []
        for done in waiting:
            self.next(done)


class Request:
    """A WriteTxnMarkers under way."""

    def __init__(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        self.broker_id = broker_id
        self.markers = list(markers)
        self._done = done

    @property
    def partitions(self) -> set[PartitionKey]:
        return {key for entry in self.markers for key in entry.partitions}

    def succeed(self) -> None:
        self.answer({})

    def answer(self, codes: Mapping[PartitionKey, int]) -> None:
        """Answers with these codes, and success for the rest."""
        self._done([{key: codes.get(key, 0) for key in entry.partitions} for entry in self.markers])

    def fail(self, error: ApiError) -> None:
        self._done(error)


class Brokers:
    """A `MarkerSender` that keeps requests for the test to answer."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.sent: list[tuple[int, MarkersToSend]] = []

    def send(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        self.requests.append(Request(broker_id, markers, done))
        self.sent.extend((broker_id, entry) for entry in markers)

    def take(self) -> list[Request]:
        requests, self.requests = self.requests, []
        return requests


class World:
    """One broker that leads the only partition of `__transaction_state`."""

    def __init__(self, *, transaction_version: int = 2, config: TxnConfig | None = None) -> None:
        self.time = Time()
        self.cluster = Cluster(transaction_version)
        self.ids = Ids()
        self.brokers = Brokers()
        self.log = MemoryLog()
        self.epoch = 0
        self.commits = True
        self.committed_offset = 0
        self.config = config or TxnConfig()
        self.coordinator = self._start()

    @property
    def now(self) -> int:
        return self.time.ms

    # Life

    def _start(self) -> TxnCoordinator:
        outside = TxnOutside(self.cluster, self.ids, self.brokers, self.time, lambda: self.cluster.is_complete)
        hooks = ShardHooks(lambda partition, epoch: self.log, self._load, lambda: None)
        coordinator = self.coordinator = TxnCoordinator(self.config, outside, hooks)
        coordinator.shards.elected(0, self.epoch)
        self.settle()
        return coordinator

    def _load(self, shard: Shard[Any]) -> None:
        self.log.load_into(shard, self.now)

    def restart(self) -> None:
        """The process is gone with all it knew, and a new one loads the log."""
        self.epoch += 1
        self.brokers.requests.clear()
        self._start()

    def settle(self) -> None:
        """Ends the round: what was decided is appended, and committed unless `commits` is off."""
        idle_rounds = 0
        while idle_rounds < 3:
            end_offset = self.log.end_offset
            self.coordinator.poll(self.now)
            self.coordinator.shards.flush(self.now)
            if self.commits:
                self.committed_offset = self.log.end_offset
                self.coordinator.shards.committed(0, self.log.end_offset)
            idle_rounds = idle_rounds + 1 if end_offset == self.log.end_offset else 0

    def commit(self) -> None:
        self.commits = True
        self.settle()

    def pass_ms(self, ms: int) -> None:
        self.time.ms += ms
        self.settle()

    def write_markers(self) -> None:
        """Every leader writes what it was sent."""
        while requests := self.brokers.take():
            for request in requests:
                request.succeed()
            self.settle()

    # Requests

    def init(
        self,
        *,
        transactional_id: str | None = ID,
        version: int = 5,
        expected: tuple[int, int] = (-1, -1),
        timeout_ms: int = 60_000,
        **fields: Any,
    ) -> InitProducerIdResponse:
        answers = Answers()
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=expected[0],
            producer_epoch=expected[1],
            **fields,
        )
        self.coordinator.init_producer_id(request, version, self.now, answers)
        self.settle()
        answer: InitProducerIdResponse = answers.only
        return answer

    def producer(self) -> tuple[int, int]:
        """A producer that has just started."""
        response = self.init()
        assert response.error_code == 0
        return response.producer_id, response.producer_epoch

    def add(self, producer: tuple[int, int], *partitions: PartitionKey, version: int = 3) -> int:
        """The code that all partitions got; -2 for none."""
        response = self.add_raw(producer, *partitions, version=version)
        results = response.results_by_topic_v3_and_below
        if version > 3:
            results = response.results_by_transaction[0].topic_results
        codes = {found.partition_error_code for topic in results for found in topic.results_by_partition}
        assert len(codes) <= 1, codes
        return codes.pop() if codes else -2

    def add_raw(
        self, producer: tuple[int, int], *partitions: PartitionKey, version: int, verify_only: bool = False
    ) -> AddPartitionsToTxnResponse:
        topics = [AddPartitionsToTxnTopic(name=key.topic, partitions=[key.partition]) for key in partitions]
        if version <= 3:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=ID,
                v3_and_below_producer_id=producer[0],
                v3_and_below_producer_epoch=producer[1],
                v3_and_below_topics=topics,
            )
        else:
            entry = AddPartitionsToTxnTransaction(
                transactional_id=ID,
                producer_id=producer[0],
                producer_epoch=producer[1],
                verify_only=verify_only,
                topics=topics,
            )
            request = AddPartitionsToTxnRequest(transactions=[entry])
        answers = Answers()
        self.coordinator.add_partitions_to_txn(request, version, self.now, answers)
        self.settle()
        response: AddPartitionsToTxnResponse = answers.only
        return response

    def verify(self, producer: tuple[int, int], *partitions: PartitionKey) -> dict[PartitionKey, int]:
        response = self.add_raw(producer, *partitions, version=5, verify_only=True)
        return {
            PartitionKey(topic.name, found.partition_index): found.partition_error_code
            for topic in response.results_by_transaction[0].topic_results
            for found in topic.results_by_partition
        }

    def add_offsets(self, producer: tuple[int, int], group_id: str = "g", *, version: int = 3) -> int:
        answers = Answers()
        request = AddOffsetsToTxnRequest(
            transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], group_id=group_id
        )
        self.coordinator.add_offsets_to_txn(request, version, self.now, answers)
        self.settle()
        code: int = answers.only.error_code
        return code

    def start_end(self, producer: tuple[int, int], *, committed: bool = True, version: int = 5) -> Answers:
        """Asks for the end without waiting for the answer."""
        answers = Answers()
        request = EndTxnRequest(
            transactional_id=ID, producer_id=producer[0], producer_epoch=producer[1], committed=committed
        )
        self.coordinator.end_txn(request, version, self.now, answers)
        self.settle()
        return answers

    def end(self, producer: tuple[int, int], *, committed: bool = True, version: int = 5) -> EndTxnResponse:
        response: EndTxnResponse = self.start_end(producer, committed=committed, version=version).only
        return response

    def describe(self, transactional_id: str = ID) -> TransactionState:
        request = DescribeTransactionsRequest(transactional_ids=[transactional_id])
        return self.coordinator.describe_transactions(request).transaction_states[0]

    @property
    def state(self) -> str:
        return self.describe().transaction_state

    def set_epoch(self, producer_epoch: int, transactional_id: str = ID) -> tuple[int, int]:
        """Gives the id that epoch, as if it had been raised often, and loads it."""
        metadata = self.coordinator.shards.get(0).state[transactional_id]._replace(producer_epoch=producer_epoch)
        key, value, version = record_of(transactional_id, metadata, self.cluster.transaction_version)
        assert value is not None
        self.log.append([(CoordinatorLog.encode_key(key), CoordinatorLog.encode_value(value, version))], None)
        self.restart()
        return metadata.producer_id, producer_epoch
