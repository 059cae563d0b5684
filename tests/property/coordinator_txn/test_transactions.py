"""Random producers, zombies, refusing leaders, crashes and time-outs: what is decided stays, and is done."""

from collections.abc import Callable
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.state import ENDING, TransactionState
from ottla.protocol.errors import ErrorCode, KafkaStorageError, NetworkError
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.end_txn import EndTxnRequest
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.property.coordinator_txn.history import History
from tests.unit.coordinator.txn.world import A0, A1, B0, World

IDS = ("t1", "t2")
PARTITIONS = (A0, A1, B0)
KEYS = st.sets(st.sampled_from(PARTITIONS), min_size=1)
ENDS = st.tuples(KEYS, st.sampled_from([True, False, None]), st.booleans())
"""Partitions of a transaction, whether it is committed or stays open, and whether by transactions v2."""
COMPLETE = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
HEALED_MS = (3_000, 3_000, 31_000, 3_000, 3_000)
TIMEOUT_MS = 30_000


class Producer:
    """An instance of an application, which knows who it was told to be, now and before."""

    def __init__(self, transactional_id: str, producer_id: int, producer_epoch: int) -> None:
        self.transactional_id = transactional_id
        self.pairs = [(producer_id, producer_epoch)]

    def became(self, producer_id: int, producer_epoch: int) -> None:
        assert producer_epoch < 32_767, "the last epoch is kept for fencing"
        self.pairs.append((producer_id, producer_epoch))


class TransactionsMachine(RuleBasedStateMachine):
    """Drives one coordinator through everything that may happen to it."""

    @initialize(transaction_version=st.sampled_from([0, 1, 2, 2]), epoch=st.sampled_from([0, 32_764, 32_766]))
    def begin(self, transaction_version: int, epoch: int) -> None:
        config = TxnConfig(id_expiration_ms=200_000, id_expiration_interval_ms=50_000)
        self.world = World(transaction_version=transaction_version, config=config)
        self.leaders = dict(self.world.cluster.leaders)
        self.producers: list[Producer] = []
        self.history = History(self.world)
        self.acknowledged: list[tuple[int, bool]] = []
        """Decisions that a producer was told of: their offset in the log, and whether they are commits."""
        self.first_epoch = epoch

    # Hypothesis leaves out some rules in each run, so there are few, and each can do much.

    @rule(transactional_id=st.sampled_from(IDS))
    def start(self, transactional_id: str) -> None:
        def answered(response: Any) -> None:
            if response.error_code == 0:
                producer = Producer(transactional_id, response.producer_id, response.producer_epoch)
                self.producers.append(producer)

        self._init(transactional_id, (-1, -1), answered)

    @rule(transactional_id=st.sampled_from(IDS), ends=st.lists(ENDS, min_size=1, max_size=4))
    def transact(self, transactional_id: str, ends: list[tuple[set[PartitionKey], bool | None, bool]]) -> None:
        """A producer that is up to date goes through some transactions, as most do; the last one's markers wait."""
        for keys, committed, is_v2 in ends:
            self._write_all_markers()
            producer = self._newest(transactional_id)
            if producer is None:
                self.start(transactional_id)
                producer = self._newest(transactional_id)
            if producer is not None:
                self._add(producer, producer.pairs[-1], keys, is_v2=is_v2)
                if committed is not None:
                    self._end(producer, producer.pairs[-1], committed=committed, is_v2=is_v2)

    @rule(data=st.data(), what=st.sampled_from(["init", "add", "offsets", "end", "end"]), is_v2=st.booleans())
    @precondition(lambda self: self.producers)
    def ask(self, data: st.DataObject, what: str, is_v2: bool) -> None:
        """Anybody asks for anything: a retry, a zombie, or the newest producer out of turn."""
        producer = data.draw(st.sampled_from(self.producers[-4:]))
        pair = data.draw(st.sampled_from([*producer.pairs[-3:], self._before(producer.transactional_id)]))
        if what == "init":
            self._go_on(producer, pair)
        elif what == "add":
            self._add(producer, pair, data.draw(KEYS), is_v2=is_v2)
        elif what == "offsets":
            self._add_offsets(producer, pair)
        else:
            self._end(producer, pair, committed=data.draw(st.booleans()), is_v2=is_v2)

    @rule(data=st.data())
    def leaders(self, data: st.DataObject) -> None:
        """Leaders write some of the markers, and answer; or they are gone before they do."""
        for request in self.world.brokers.take():
            written = data.draw(st.sets(st.sampled_from(sorted(request.partitions))))
            self._write_markers(request, written)
            code = data.draw(st.sampled_from([6, ErrorCode.INVALID_PRODUCER_EPOCH, -1, None, None]))
            if code is None:
                request.fail(NetworkError())
            else:
                if code == ErrorCode.INVALID_PRODUCER_EPOCH:
                    # A leader that knows a later epoch will never take the marker: as good as written.
                    self._write_markers(request, request.partitions - written)
                request.answer({key: code for key in request.partitions if key not in written})
            self.world.settle()

    @rule(
        data=st.data(), what=st.sampled_from(["leader", "leader", "delete", "disk", "high watermark", "heal", "heal"])
    )
    def cluster(self, data: st.DataObject, what: str) -> None:
        """Something happens to partitions, or to the log."""
        if what == "leader":
            key = data.draw(st.sampled_from(PARTITIONS))
            if key in self.leaders:
                self.leaders[key] = data.draw(st.sampled_from([-1, 1, 2]))
            self._publish()
        elif what == "delete":
            if self.leaders.pop(B0, None) is not None:
                self.history.deleted.add(B0)
            self._publish()
        else:
            self.world.log.fail_with = KafkaStorageError() if what == "disk" else None
            self.world.commits = what != "high watermark"
            self.world.settle()

    @rule(is_metadata_old=st.sampled_from([False, False, True]), loses=st.booleans())
    def crash(self, is_metadata_old: bool, loses: bool) -> None:
        """A new coordinator, maybe one that never had the log's end, maybe with metadata of long ago."""
        if is_metadata_old:
            self.world.cluster.is_complete = False
            self.world.cluster.leaders = {}
        if loses:
            self.world.log.truncate_to(self.world.committed_offset)
            self.history.observe()
        self.world.restart()

    @rule(ms=st.sampled_from([1, 100, 3_000, 31_000, 260_000]))
    def pass_time(self, ms: int) -> None:
        """Metadata that was old catches up."""
        self.world.pass_ms(ms)
        self._publish()

    # What must be true

    @invariant()
    def log_is_sound(self) -> None:
        if hasattr(self, "history"):
            self.history.observe()

    def teardown(self) -> None:
        """Once all is well again everything that was decided gets done."""
        if not hasattr(self, "world"):
            return
        self.world.log.fail_with = None
        self.leaders = {key: max(leader, 1) for key, leader in self.leaders.items()}
        self._publish()
        self.world.commit()
        for ms in HEALED_MS:
            self._write_all_markers()
            self.world.pass_ms(ms)
        self._write_all_markers()
        self.history.observe()
        newest = [self.history.newest(transactional_id) for transactional_id in IDS]
        states = {entry.metadata.state.label for entry in newest if entry and entry.metadata}
        assert states <= {"Empty", "CompleteCommit", "CompleteAbort"}, states
        by_offset = {entry.offset: entry for entry in self.history.entries}
        for offset, committed in self.acknowledged:
            metadata = by_offset[offset].metadata
            assert metadata is not None
            assert (metadata.state.label == "PrepareCommit") is committed, "an acknowledged outcome changed"

    def _before(self, transactional_id: str) -> tuple[int, int]:
        """Who the newest producer of an id has taken the place of."""
        found = self.world.coordinator.shards.get(0).state.get(transactional_id)
        return (0, 0) if found is None else (found.producer_id, found.producer_epoch - 1)

    def _newest(self, transactional_id: str) -> Producer | None:
        found = self.world.coordinator.shards.get(0).state.get(transactional_id)
        newest = None if found is None else (found.producer_id, found.producer_epoch)
        mine = (producer for producer in reversed(self.producers) if producer.transactional_id == transactional_id)
        return next((producer for producer in mine if producer.pairs[-1] == newest), None)

    def _go_on(self, producer: Producer, pair: tuple[int, int]) -> None:
        def answered(response: Any) -> None:
            if response.error_code == 0:
                producer.became(response.producer_id, response.producer_epoch)

        self._by(producer, pair, lambda: self._init(producer.transactional_id, pair, answered))

    def _add_offsets(self, producer: Producer, pair: tuple[int, int]) -> None:
        request = AddOffsetsToTxnRequest(
            transactional_id=producer.transactional_id, producer_id=pair[0], producer_epoch=pair[1], group_id="g"
        )
        send = self.world.coordinator.add_offsets_to_txn
        self._by(producer, pair, lambda: send(request, 4, self.world.now, _ignore))

    def _add(self, producer: Producer, pair: tuple[int, int], keys: set[PartitionKey], *, is_v2: bool) -> None:
        keys = keys - self.history.deleted
        topics = [AddPartitionsToTxnTopic(name=key.topic, partitions=[key.partition]) for key in sorted(keys)]
        if is_v2:
            entry = AddPartitionsToTxnTransaction(
                transactional_id=producer.transactional_id, producer_id=pair[0], producer_epoch=pair[1], topics=topics
            )
            request = AddPartitionsToTxnRequest(transactions=[entry])
        else:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=producer.transactional_id,
                v3_and_below_producer_id=pair[0],
                v3_and_below_producer_epoch=pair[1],
                v3_and_below_topics=topics,
            )
        send = self.world.coordinator.add_partitions_to_txn
        self._by(producer, pair, lambda: send(request, 5 if is_v2 else 3, self.world.now, _ignore))

    def _end(self, producer: Producer, pair: tuple[int, int], *, committed: bool, is_v2: bool) -> None:
        request = EndTxnRequest(
            transactional_id=producer.transactional_id,
            producer_id=pair[0],
            producer_epoch=pair[1],
            committed=committed,
        )

        self.history.observe()
        decided = len(self._decisions(producer.transactional_id))
        speaks_v2 = is_v2 and self.world.cluster.transaction_version >= 1
        found = self.world.coordinator.shards.get(0).state.get(producer.transactional_id)
        # A retry is told of the last decision, others of the next.
        is_newest = found is not None and pair == (found.producer_id, found.producer_epoch)
        is_retry = found is not None and found.state in COMPLETE and not (speaks_v2 and is_newest)

        def answered(response: Any) -> None:
            if response.error_code == 0:
                self._acknowledge(producer.transactional_id, decided - is_retry, committed)
                if is_v2:
                    producer.became(response.producer_id, response.producer_epoch)

        send = self.world.coordinator.end_txn
        self._by(producer, pair, lambda: send(request, 5 if is_v2 else 4, self.world.now, answered))

    def _by(self, producer: Producer, pair: tuple[int, int], ask: Callable[[], None]) -> None:
        """Asks, and sees that a pair which is not the newest changes nothing that counts."""
        shard = self.world.coordinator.shards.get(0)
        before = shard.state.get(producer.transactional_id)
        ask()
        after = shard.state.get(producer.transactional_id)
        if before is not None and pair != (before.producer_id, before.producer_epoch):
            assert after is not None
            assert after[:4] == before[:4] or after.state.label == "Empty"
            assert (after.producer_id, after.producer_epoch) == (before.producer_id, before.producer_epoch)
            assert after.partitions == before.partitions
        self.world.settle()

    def _init(self, transactional_id: str, pair: tuple[int, int], answered: Callable[[Any], None]) -> None:
        request = InitProducerIdRequest(
            transactional_id=transactional_id,
            transaction_timeout_ms=TIMEOUT_MS,
            producer_id=pair[0],
            producer_epoch=pair[1],
        )
        self.world.coordinator.init_producer_id(request, 5, self.world.now, answered)
        self.world.settle()
        self._age(transactional_id)

    def _age(self, transactional_id: str) -> None:
        """Gives the first id of the run an old age, so that epochs run out within a few steps."""
        epoch, self.first_epoch = self.first_epoch, 0
        if epoch == 0:
            return
        metadata = self.world.coordinator.shards.get(0).committed_state.get(transactional_id)
        if metadata is not None and self.world.commits and self.world.log.fail_with is None:
            pid = self.world.set_epoch(epoch, transactional_id)[0]
            for producer in self.producers:
                producer.pairs = [(pid, epoch)]

    def _acknowledge(self, transactional_id: str, number: int, committed: bool) -> None:
        self.history.observe()
        offset = self._decisions(transactional_id)[number]
        assert offset < self.world.committed_offset
        self.acknowledged.append((offset, committed))

    def _decisions(self, transactional_id: str) -> list[int]:
        return [
            entry.offset
            for entry in self.history.entries
            if entry.transactional_id == transactional_id and entry.metadata and entry.metadata.state in ENDING
        ]

    def _write_markers(self, request: Any, written: set[PartitionKey]) -> None:
        self.history.observe()
        for entry in request.markers:
            for key in entry.partitions:
                if key in written:
                    self.history.marker_written(key, entry.marker)

    def _write_all_markers(self) -> None:
        while requests := self.world.brokers.take():
            for request in requests:
                self._write_markers(request, request.partitions)
                request.succeed()
            self.world.settle()
            self.history.observe()

    def _publish(self) -> None:
        self.world.cluster.leaders = dict(self.leaders)
        self.world.cluster.is_complete = True
        self.world.coordinator.metadata_changed()
        self.world.settle()


def _ignore(response: object) -> None:
    pass


TestTransactions = TransactionsMachine.TestCase
TestTransactions.settings = settings(max_examples=60, stateful_step_count=50, deadline=None)
