"""Collects records into batches by partition until they are full, due, flushed or in the way of others.

Owns the open batches, the memory that they may use, and the order of what waits. It knows no broker: the sender asks
for what is ready, takes batches in order, and says when they are done. Any thread may append; only the loop's thread
takes. Batches become ready through a list, so that nothing here looks at partitions without news.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from ottla.base.clock import Clock
from ottla.base.frozen import frozen
from ottla.client.producer.append import Appender, OnDelivery, SendFuture, TopicLane
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.client.record import Header, Headers
from ottla.protocol.records.batch import HEADER_BYTES

_RECORD_OVERHEAD_BYTES: Final = 21
"""What a record's length, attributes, deltas and field lengths take at most."""
# Compressed sizes vary from batch to batch: leave some air, as Kafka's producer does.
_RATIO_MARGIN: Final = 1.05
_RATIO_FALL, _RATIO_RISE = 0.005, 0.05
_ROOM_BYTES: Final = 256 * 1024
_ROOM_BATCHES: Final = 4


@frozen
class AccumulatorOptions:
    """The settings that batches are built by."""

    batch_size: int = 16_384
    linger_ms: int = 5
    memory_bytes: int = 32 << 20
    record_bytes_max: int = 1 << 20
    compressed: bool = False


@frozen
class NewRecord:
    """A record as it goes into a batch; without a partition it goes where the topic's lane says."""

    topic: str
    key: bytes | None
    value: bytes | None
    partition: int | None = None
    timestamp_ms: int | None = None
    headers: Sequence[Header] = ()
    on_delivery: OnDelivery | None = None

    @property
    def bytes_max(self) -> int:
        """What it takes at most, alone in a batch."""
        size = HEADER_BYTES + _RECORD_OVERHEAD_BYTES + len(self.key or b"") + len(self.value or b"")
        return size + sum(10 + 3 * len(name) + len(value or b"") for name, value in self.headers)


class Carrier(Protocol):
    """Takes a batch to its broker in the thread that waits for it: see `express`."""

    def carry(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """Sends the batch by itself, if it may go alone."""
        ...


class _Flush:
    """Somebody waits for these batches."""

    def __init__(self, pending: set[ProducerBatch], done: Callable[[], None]) -> None:
        self._pending: Final = pending
        self._done: Final = done
        self.on_end: Callable[[], None] = lambda: None

    def discard(self, batch: ProducerBatch) -> None:
        """One of them is done."""
        self._pending.discard(batch)
        if not self._pending:
            self.on_end()
            self._done()

    def replace(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """One of them was split."""
        if batch in self._pending:
            self._pending.remove(batch)
            self._pending.update(parts)


class Accumulator(Appender):
    """The batches that are being filled, or wait to be sent."""

    def __init__(self, options: AccumulatorOptions, clock: Clock, wake: Callable[[], None]) -> None:
        super().__init__(options.memory_bytes)
        self.options: Final = options
        self.queues: Final[dict[str, list[PartitionQueue]]] = {}
        self.incomplete: Final[dict[ProducerBatch, None]] = {}
        """All batches that are not done, in the order of their creation."""
        self.choose_partition: Callable[[TopicLane], int] = lambda lane: 0
        """Where records without a key go next."""
        self.ratios: Final[dict[str, float]] = {}
        """What compression leaves of a topic's batches, learnt from the ones before."""
        self.senders_wait = False
        """Whether those who send wait for each record, and take its batch to the broker themselves: see `express`."""
        self.express: Carrier | None = None
        self._flushes: Final[list[_Flush]] = []
        self._clock: Final = clock
        self._wake_up: Final = wake
        self._is_awake = False
        self._lock_open: Final = threading.RLock()
        self._ready: Final[dict[PartitionQueue, None]] = {}
        self._lingering: Final[deque[ProducerBatch]] = deque()
        self._room_waiters: Final[list[tuple[int, Callable[[], None]]]] = []
        self.record_bytes_limit = max(0, options.record_bytes_max - HEADER_BYTES - _RECORD_OVERHEAD_BYTES)

    def add_topic(self, topic: str, partition_count: int, *, uses_keys: bool = True) -> TopicLane:
        """Makes room for a topic, or for the partitions that it has got meanwhile."""
        with self._lock_open:
            lane = self.lanes.get(topic)
            if lane is None:
                lane = TopicLane(topic, partition_count)
                lane.uses_keys = uses_keys
            elif lane.partition_count != partition_count:
                lane.grow(partition_count)
            queues = self.queues.setdefault(topic, [])
            for number in range(len(queues), partition_count):
                queues.append(PartitionQueue(lane, number))
                queues[-1].waited_for = self._waited_for
            if not 0 <= lane.sticky_partition < partition_count:
                lane.sticky_partition = self.choose_partition(lane)
            # Only now may others see it: what they find in a lane has a queue.
            self.lanes[topic] = lane
            return lane

    def append(self, record: NewRecord) -> SendFuture | None:
        """The record's future; None if there is no memory for it, or if nothing may be sent any more.

        The topic is known, the partition exists, and all is of the exact types and sizes that `NewRecord` says.
        """
        lane = self.lanes[record.topic]
        opened: ProducerBatch | None = None
        while True:
            try:
                future = self.send(
                    record.topic,
                    record.value,
                    record.key,
                    record.partition,
                    record.timestamp_ms,
                    record.headers or None,
                    record.on_delivery,
                )
            finally:
                if opened is not None:
                    self._fill(opened)
            if future is not None:
                return future
            if not self.is_open or self.memory_used + record.bytes_max > self.memory_bytes:
                return None
            with self._lock_open:
                opened = self._open(lane, record)

    def send_first(
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None,
    ) -> SendFuture | None:
        """As `send`, where all that is missing is an open batch: the common case when records come one at a time."""
        lane = self.lanes.get(topic)
        if lane is None or type(value) is not bytes or not self.is_open:
            return None
        if partition is None:
            if key is None or not lane.uses_keys:
                partition = lane.sticky_partition
            elif type(key) is bytes:
                partition = partition_of_key(key, lane.partition_count)
            else:
                return None
        if not 0 <= partition < lane.partition_count or self.memory_used * 2 > self.memory_bytes:
            return None
        opened: ProducerBatch | None = None
        try:
            with self._lock_open:
                if lane.open[partition] is not None:
                    return None
                opened = self._new(lane, partition)
                self._open_new(lane, partition, opened)
            return self.send(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        finally:
            # Whatever came in between, Ctrl-C included: no empty batch may stand in the way of others.
            if opened is not None:
                self._fill(opened)

    def _fill(self, opened: ProducerBatch) -> None:
        """Calls the sender for a new batch once it is not empty any more; one that stays empty is taken back."""
        if opened.count == 0:
            with self._lock_open:
                self._seal(opened)
                # Others may have sent into it until a moment ago.
                if opened.count == 0 and self.incomplete.pop(opened, self) is None:
                    if opened in opened.queue.batches:
                        opened.queue.batches.remove(opened)
                    self.release(opened.reserved_bytes)
            if opened.queue.batches:
                self.mark_ready(opened.queue)
        elif self.senders_wait and not opened.callbacks:
            # The thread that waits for it takes it along; if none does, the loop looks soon.
            return
        elif self.options.linger_ms == 0 or len(self._lingering) == 1:
            self.wake()

    def _open(self, lane: TopicLane, record: NewRecord) -> ProducerBatch | None:
        """Makes an open batch that the record fits into, where it goes to; None if somebody else has made one."""
        number = self.partition_of(lane, record)
        batch: ProducerBatch | None = lane.open[number]
        if batch is not None:
            if batch.count == 0:
                return None
            self._close(batch)
            if number == lane.sticky_partition and lane.sticky_bytes + record.bytes_max >= self.options.batch_size:
                # KIP-794: a partition gets a batch's worth before the next one gets its turn.
                lane.sticky_partition, lane.sticky_bytes = self.choose_partition(lane), 0
                if record.partition is None and number != self.partition_of(lane, record):
                    return None
        opened = self._new(lane, number)
        self._open_new(lane, number, opened)
        return opened

    def _new(self, lane: TopicLane, number: int) -> ProducerBatch:
        queue = self.queues[lane.topic][number]
        ratio = self.ratios.get(lane.topic, 1.0) * _RATIO_MARGIN if self.options.compressed else 1.0
        return ProducerBatch(queue, self._clock.monotonic_ms(), self.options.batch_size, ratio)

    def _open_new(self, lane: TopicLane, number: int, batch: ProducerBatch) -> None:
        self.release(-HEADER_BYTES)
        self._enqueue(batch.queue, batch)
        lane.open[number] = batch
        self._lingering.append(batch)

    def partition_of(self, lane: TopicLane, record: NewRecord) -> int:
        """Where the record goes as things stand."""
        if record.partition is not None:
            return record.partition
        if record.key is not None and lane.uses_keys:
            return partition_of_key(record.key, lane.partition_count)
        return lane.sticky_partition

    def add_batch(self, batch: ProducerBatch) -> bool:
        """Takes a batch that was written elsewhere, behind all others of its partition; False if there is no memory."""
        if not self.reserve(batch.used):
            return False
        with self._lock_open:
            queue = batch.queue
            opened: ProducerBatch | None = queue.lane.open[queue.partition]
            if opened is not None:
                self._close(opened)
            self._enqueue(queue, batch)
            self._close(batch)
        return True

    def _enqueue(self, queue: PartitionQueue, batch: ProducerBatch) -> None:
        self.incomplete[batch] = None
        queue.batches.append(batch)

    def _waited_for(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """Somebody will not go on before a batch is done: it goes with him, or the sender is called."""
        if self.express is not None:
            self.express.carry(batch, timeout_s)
        if not batch.is_closed:
            self.wake()

    def _close(self, batch: ProducerBatch) -> None:
        """No more records for this one; the sender is called unless it has the queue already, for a batch before."""
        self._seal(batch)
        if batch.queue.batches[0] is batch:
            self.mark_ready(batch.queue)

    def mark_ready(self, queue: PartitionQueue) -> None:
        """The sender shall look at the queue."""
        self._ready[queue] = None
        self.wake()

    def wake(self) -> None:
        """Calls the sender, unless it has been called and has not come yet."""
        if not self._is_awake:
            self._is_awake = True
            try:
                self._wake_up()
            except BaseException:  # Ctrl-C in the middle: the next one calls
                self._is_awake = False
                raise

    def take_ready(self, now_ms: int) -> list[PartitionQueue]:
        """The queues that have news since the last call."""
        self._is_awake = False
        lingering, hurried = self._lingering, self.is_hurried
        empty: list[ProducerBatch] = []
        while lingering:
            batch = lingering[0]
            if not batch.is_closed:
                if batch.count == 0:
                    # Somebody is about to put its first record in.
                    empty.append(batch)
                elif not hurried and batch.created_ms + self.options.linger_ms > now_ms:
                    break
                else:
                    self._ready[batch.queue] = None
            lingering.popleft()
        lingering.extendleft(reversed(empty))
        ready = list(self._ready)
        for queue in ready:
            del self._ready[queue]
        return ready

    @property
    def is_hurried(self) -> bool:
        """Whether batches go as they are: somebody flushes, or waits for the memory that they take."""
        return bool(self._flushes or self._room_waiters)

    def next_due_ms(self) -> int | None:
        """When the oldest open batch has waited for long enough, on the monotonic clock."""
        if not self._lingering:
            return None
        oldest = self._lingering[0]
        if oldest.count == 0:
            return self._clock.monotonic_ms() + 1
        return oldest.created_ms + self.options.linger_ms

    def is_due(self, batch: ProducerBatch, now_ms: int) -> bool:
        """Whether a batch may leave."""
        if batch.count == 0:
            return False
        return batch.is_closed or self.is_hurried or batch.created_ms + self.options.linger_ms <= now_ms

    def take(self, queue: PartitionQueue) -> ProducerBatch:
        """Removes the oldest batch, which takes no more records."""
        with self._lock_open:
            batch = queue.batches.popleft()
            self._seal(batch)
            return batch

    def claim(self, batch: ProducerBatch) -> bool:
        """Takes a batch out for a thread that will carry it by itself; False unless it is all that there is."""
        with self._lock_open:
            queue = batch.queue
            if len(self.incomplete) != 1 or self.is_hurried or batch.callbacks or batch.attempts:
                return False
            if not queue.batches or queue.batches[0] is not batch:
                return False
            queue.held_for = batch
            self.take(queue)
            if self._lingering and self._lingering[0] is batch:
                self._lingering.popleft()
            return True

    def has_waited(self, age_ms: int) -> bool:
        """Whether there is an open batch that is older."""
        with self._lock_open:
            return bool(self._lingering) and self._lingering[0].created_ms + age_ms < self._clock.monotonic_ms()

    def _seal(self, batch: ProducerBatch) -> None:
        """No more records."""
        queue = batch.queue
        if queue.lane.open[queue.partition] is batch:
            queue.lane.open[queue.partition] = None
        if not batch.is_closed:
            batch.is_closed = True
            batch.reserved_bytes = batch.used

    def put_back(self, batch: ProducerBatch) -> None:
        """A batch that has to be sent again."""
        with self._lock_open:
            batch.queue.put_back(batch)
        self.mark_ready(batch.queue)

    def replace(self, batch: ProducerBatch, parts: Sequence[ProducerBatch]) -> None:
        """A batch was split."""
        with self._lock_open:
            self.incomplete.pop(batch, None)
            for part in parts:
                self.incomplete[part] = None
            for flush in self._flushes:
                flush.replace(batch, parts)
            self.release(batch.reserved_bytes - sum(part.reserved_bytes for part in parts))
            # By their numbers: parts of the batch before may stand in the queue already.
            for part in reversed(parts):
                batch.queue.put_back(part)
        self.mark_ready(batch.queue)

    def forget(self, batch: ProducerBatch) -> None:
        """A batch is done: its memory is free again."""
        if self.incomplete.pop(batch, self) is self:
            return
        self.release(batch.reserved_bytes)
        for flush in self._flushes.copy():
            flush.discard(batch)
        if self._room_waiters:
            self._wake_waiters()

    def forget_quietly(self, batch: ProducerBatch) -> bool:
        """As `forget`, in any thread; False if somebody in the loop has to hear of it, and nothing was done."""
        with self._lock_open:
            if self.is_hurried:
                return False
            if self.incomplete.pop(batch, self) is not self:
                self.release(batch.reserved_bytes)
            return True

    def _wake_waiters(self) -> None:
        """Wakes threads that wait for memory, once there is room for some batches: waking costs more than a record."""
        free_bytes = self.memory_bytes - self.memory_used
        enough = min(self.memory_bytes // 4, max(_ROOM_BYTES, _ROOM_BATCHES * self.options.batch_size))
        with self._lock_open:
            waiters = [waiter for waiter in self._room_waiters if max(waiter[0], enough) <= free_bytes]
            if not self.incomplete:
                waiters = self._room_waiters.copy()
            for waiter in waiters:
                self._room_waiters.remove(waiter)
        for _, wake in waiters:
            wake()

    @property
    def oldest(self) -> ProducerBatch | None:
        """The first created of the batches that are not done."""
        with self._lock_open:
            return next(iter(self.incomplete), None)

    def remove(self, batch: ProducerBatch) -> None:
        """Takes a batch out of its queue, wherever it stands."""
        with self._lock_open:
            batch.queue.batches.remove(batch)
            self._seal(batch)

    def remove_waiting(self) -> list[ProducerBatch]:
        """Takes all batches that are not in flight out of their queues."""
        with self._lock_open:
            return [
                self.take(queue)
                for queues in self.queues.values()
                for queue in queues
                for _ in range(len(queue.batches))
            ]

    def on_room(self, size: int, wake: Callable[[], None]) -> None:
        """Calls `wake` once when `size` bytes and some more are free; until then all batches hurry."""
        with self._lock_open:
            self._room_waiters.append((size, wake))
        # It may all have been given back since the caller looked.
        self._wake_waiters()
        self.wake()

    def flush(self, done: Callable[[], None]) -> None:
        """Calls `done` when all batches that there are now are done; until then all batches hurry."""
        with self._lock_open:
            pending = set(self.incomplete)
            flush = _Flush(pending, done)
            if pending:
                self._flushes.append(flush)
                flush.on_end = lambda: self._flushes.remove(flush)
        if pending:
            self.wake()
        else:
            done()

    @property
    def waiting_count(self) -> int:
        """How many wait for memory."""
        return len(self._room_waiters)

    def learn_ratio(self, topic: str, ratio: float) -> None:
        """Falls slowly and rises quickly, so that few batches come out larger than expected."""
        known = self.ratios.get(topic, 1.0)
        if ratio < known:
            self.ratios[topic] = max(known - _RATIO_FALL, ratio)
        else:
            self.ratios[topic] = max(known + _RATIO_RISE, ratio)

    def forget_ratio(self, topic: str) -> None:
        """A batch came out too large."""
        self.ratios[topic] = 1.0
