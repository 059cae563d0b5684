"""Whatever connections lose, each record is in the log once and in order: the client's half of idempotence.

A broker of a few lines keeps Kafka's rules (any sequence of a producer that it does not know, then the next; the last
five batches known again; new epochs from 0); the network loses requests and answers as Hypothesis likes. Batches are
split when the broker finds them too large. The topic may be deleted and made anew meanwhile: nothing waits for ever.
"""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ottla.base.ids import Uuid
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.metric.client_metric import ClientMetrics
from ottla.client.producer.accumulator import Accumulator, AccumulatorOptions
from ottla.client.producer.append import SendFuture
from ottla.client.producer.batch import ProducerBatch
from ottla.client.producer.metric import ProducerMetric
from ottla.client.producer.option import ProducerOptions
from ottla.client.producer.send.batch_completion import BatchCompletion
from ottla.client.producer.sequence import ProducerIdentity, SequenceLedger
from ottla.protocol.errors import ErrorCode, NetworkError
from ottla.protocol.messages.produce import PartitionProduceResponse
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.reader import read_tuples

SETTINGS = ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", retry_backoff_ms=0, retry_backoff_max_ms=0)
IN_FLIGHT_MAX, REMEMBERED = 5, 5


class Clock:
    def now_ms(self) -> int:
        return 0

    def monotonic_ms(self) -> int:
        return 0


class Broker:
    """One partition's leader."""

    def __init__(self) -> None:
        self.log: list[bytes] = []
        self.batch_bytes_max = 1 << 20
        self._epoch = -1
        self._last = -1
        self._known: list[tuple[int, int, int]] = []

    def produce(self, data: bytes) -> tuple[int, int]:
        """The error and the base offset."""
        batch = Batch(data)
        if len(data) > self.batch_bytes_max and batch.records_count > 1:
            return ErrorCode.MESSAGE_TOO_LARGE, -1
        first, last = batch.base_sequence, batch.last_sequence
        if batch.producer_epoch < self._epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, -1
        if batch.producer_epoch == self._epoch:
            for known_first, known_last, offset in self._known:
                if (first, last) == (known_first, known_last):
                    return ErrorCode.NONE, offset
        expected = self._last + 1 if batch.producer_epoch == self._epoch else 0
        if self._epoch >= 0 and first != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        if batch.producer_epoch > self._epoch:
            self._known = []
        self._epoch, self._last = batch.producer_epoch, last
        offset = len(self.log)
        self._known = [*self._known, (first, last, offset)][-REMEMBERED:]
        self.log += [value for _, _, _, value, _ in read_tuples(data) if value is not None]
        return ErrorCode.NONE, offset


class World:
    """A producer and a broker, with a connection that can be cut."""

    def __init__(self) -> None:
        self.broker = Broker()
        self.futures: list[SendFuture] = []
        self.accumulator = Accumulator(AccumulatorOptions(batch_size=300, linger_ms=0), Clock(), lambda: None)
        self.accumulator.add_topic("t", 1)
        self.accumulator.is_open = True
        self.ledger = SequenceLedger(is_transactional=False)
        self.ledger.adopt_new(ProducerIdentity(9, 0))
        options = ProducerOptions.of(SETTINGS)
        metric = ProducerMetric(ClientMetrics(SETTINGS, "me"))
        self.completion = BatchCompletion(self.accumulator, self.ledger, options, metric, Clock())
        self.queue = self.accumulator.queues["t"][0]
        self.in_flight: list[tuple[ProducerBatch, bytes, Uuid]] = []
        self.earlier_logs: list[list[bytes]] = []
        self._topic_id = self._known_id = Uuid(bytes(15) + b"\1")
        self._options = options

    def send(self) -> None:
        future = self.accumulator.append("t", b"%06d" % len(self.futures) + bytes(60), None, 0, 0, None, None)
        assert future is not None
        self.futures.append(future)

    def drain(self) -> None:
        """One batch leaves, if it may."""
        self.ledger.resolve()
        self.ledger.bump_if_needed()
        if len(self.in_flight) >= IN_FLIGHT_MAX or not self.queue.batches:
            return
        batch = self.queue.batches[0]
        if not self.ledger.may_send(self.queue, batch, self._known_id):
            return
        self.accumulator.take(self.queue)
        if not batch.has_sequence:
            batch.write(self._options.batch, self.ledger.number(self.queue, batch))
        elif batch.records is None:
            batch.write(self._options.batch, (batch.producer_id, batch.producer_epoch, batch.base_sequence))
        assert batch.records is not None
        batch.attempts += 1
        self.in_flight.append((batch, bytes(batch.records), self._known_id))

    def answer(self, *, trouble: bool) -> None:
        """The broker handles the oldest request; in trouble it refuses it for the moment."""
        if not self.in_flight:
            return
        batch, data, topic_id = self.in_flight.pop(0)
        if topic_id != self._topic_id:
            code, offset, self._known_id = ErrorCode.UNKNOWN_TOPIC_ID, -1, self._topic_id
        else:
            code, offset = (ErrorCode.NOT_ENOUGH_REPLICAS, -1) if trouble else self.broker.produce(data)
        answer = PartitionProduceResponse(index=0, error_code=code, base_offset=offset)
        self.completion.answered(batch, answer, may_hurry=True)

    def cut(self, handled: int) -> None:
        """The connection is lost: the broker has handled some of the requests, and nobody hears of it."""
        lost, self.in_flight = self.in_flight, []
        for number, (_, data, topic_id) in enumerate(lost):
            if number < handled and topic_id == self._topic_id:
                self.broker.produce(data)
        for batch, _, _ in lost:
            self.completion.unanswered(batch, NetworkError("cut"))

    def make_anew(self) -> None:
        """The topic is deleted and made anew: its leader knows no producer."""
        self.earlier_logs.append(self.broker.log)
        batch_bytes_max = self.broker.batch_bytes_max
        self.broker = Broker()
        self.broker.batch_bytes_max = batch_bytes_max
        self._topic_id = Uuid((int.from_bytes(self._topic_id, "big") + 1).to_bytes(16, "big"))

    def settle(self) -> None:
        """A good network until everything is done."""
        for _ in range(50 * len(self.futures) + 50):
            self.drain()
            self.answer(trouble=False)
        assert not self.accumulator.incomplete


ACTIONS = (
    st.tuples(st.just("send"), st.integers(1, 8)),
    st.tuples(st.just("drain"), st.integers(1, 5)),
    st.tuples(st.just("answer"), st.integers(0, 4)),
    st.tuples(st.just("cut"), st.integers(0, 5)),
)
STEPS = st.lists(st.one_of(*ACTIONS), max_size=40)
STEPS_ANEW = st.lists(st.one_of(*ACTIONS, st.tuples(st.just("anew"), st.just(1))), max_size=40)


@settings(max_examples=200, deadline=None)
@given(STEPS, st.sampled_from([150, 250, 1 << 20]))
def test_each_record_once_and_in_order(steps: list[tuple[str, int]], batch_bytes_max: int) -> None:
    world = World()
    world.broker.batch_bytes_max = batch_bytes_max
    run(world, steps)
    expected = [b"%06d" % number for number in range(len(world.futures))]
    assert [value[:6] for value in world.broker.log] == expected
    assert [future.result(0).offset for future in world.futures] == list(range(len(expected)))
    assert world.accumulator.memory_used == 0


# A batch that is sent again to the new topic meets with trouble: none may overtake it.
OVERTAKEN = [
    ("drain", 1), ("answer", 1), ("send", 8), ("drain", 1), ("anew", 1), ("answer", 1), ("drain", 2), ("answer", 0),
    ("answer", 1),
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(STEPS_ANEW)
@example(OVERTAKEN)
def test_a_topic_made_anew_takes_what_the_old_one_did_not(steps: list[tuple[str, int]]) -> None:
    world = World()
    run(world, steps)
    written = [value[:6] for log in (*world.earlier_logs, world.broker.log) for value in log]
    assert set(written) == {b"%06d" % number for number in range(len(world.futures))}
    for log in (*world.earlier_logs, world.broker.log):
        assert log == sorted(set(log))
    assert all(future.result(0) for future in world.futures)


def run(world: World, steps: list[tuple[str, int]]) -> None:
    world.send()
    for step, amount in steps:
        match step:
            case "send":
                repeat(amount, world.send)
            case "drain":
                repeat(amount, world.drain)
            case "answer":
                world.answer(trouble=amount == 0)
            case "cut":
                world.cut(amount)
            case "anew":
                world.make_anew()
    world.settle()


def repeat(times: int, function: Any) -> None:
    for _ in range(times):
        function()
