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
from ottla.client.producer.batch import Holder, PartitionQueue, ProducerBatch
from ottla.client.producer.new_record import RECORD_OVERHEAD_BYTES, bytes_max_if_plain
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.client.record import Headers
from ottla.protocol.records.batch import HEADER_BYTES

# Compressed sizes vary from batch to batch: leave some air, as Kafka's producer does.
_RATIO_MARGIN: Final = 1.05
_RATIO_FALL, _RATIO_RISE = 0.005, 0.05
_INT64_MAX: Final = 2**63 - 1
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


class Carrier(Protocol):
    """Takes a batch to its broker in the thread that waits for the batch: see `express`."""

    @property
    def is_engaged(self) -> bool:
        """Whether threads that send carry their batches, so that the sender need not be called for each."""
        ...

    def carry(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """Takes the batch to its broker and waits for the answer, if the batch may go alone."""
        ...


class _NoCarrier:
    """Leaves every batch to the sender."""

    is_engaged: Final = False

    def carry(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """Leaves it to the sender."""


class _Flush:
    """The batches that a flush waits for."""

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
        self.incomplete: Final[dict[ProducerBatch, bool]] = {}
        """All batches that are not done, in the order of their creation; the value is always true."""
        self.choose_partition: Callable[[TopicLane], int] = lambda lane: 0
        """Where records without a key go next."""
        self.ratios: Final[dict[str, float]] = {}
        """The compression ratio of a topic's batches, estimated from earlier ones."""
        self.carrier: Carrier = _NoCarrier()
        self._flushes: Final[list[_Flush]] = []
        self._clock: Final = clock
        self._wake_up: Final = wake
        self._is_awake = False
        self._lock_open: Final = threading.RLock()
        self._ready: Final[dict[PartitionQueue, None]] = {}
        self._lingering: Final[deque[ProducerBatch]] = deque()
        self._room_waiters: Final[list[tuple[int, Callable[[], None]]]] = []
        self.record_bytes_limit = max(0, options.record_bytes_max - HEADER_BYTES - RECORD_OVERHEAD_BYTES)

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

    def append_to_new_batch(
        self,
        topic: str,
        value: object,
        key: object,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers | None,
        on_delivery: OnDelivery | None,
    ) -> SendFuture | None:
        """Opens a batch for a record that the open one does not take: see `append`.

        None if there is no memory for it, if nothing may be sent, if its topic or partition is not known, if it is
        larger than `max.request.size` or not of the exact types that `NewRecord` has.
        """
        lane = self.lanes.get(topic)
        size = bytes_max_if_plain(key, value, headers)
        if lane is None or not 0 < size <= self.options.record_bytes_max or not 0 <= (timestamp_ms or 0) <= _INT64_MAX:
            return None
        full: ProducerBatch | None = None
        while True:
            number = _partition_of(lane, key) if partition is None else partition
            if not 0 <= number < lane.partition_count:
                return None
            if not self.is_open or self.memory_used + size > self.memory_bytes:
                return None
            opened = self._new(lane, number)
            try:
                with self._lock_open:
                    self._open(opened, size, full)
                full = lane.open[number]
                future = self.append_to_open_batch(topic, value, key, partition, timestamp_ms, headers, on_delivery)
            finally:
                # Whatever came in between, Ctrl-C included: no empty batch may stand in the way of others.
                if opened in self.incomplete:
                    self._fill(opened)
                else:
                    self.give_back(opened)
            if future is not None:
                return future

    def _fill(self, opened: ProducerBatch) -> None:
        """Calls the sender for a new batch once it is not empty any more; one that stays empty is taken back."""
        if opened.count == 0:
            with self._lock_open:
                self._seal(opened)
                # Others may have sent into it until a moment ago.
                if opened.count == 0 and self._discard(opened):
                    if opened in opened.queue.batches:
                        opened.queue.batches.remove(opened)
                    self.give_back(opened)
            if opened.queue.batches:
                self.mark_ready(opened.queue)
        elif self.carrier.is_engaged and not opened.callbacks:
            # The thread that waits for it takes it along; if none does, the loop looks soon.
            return
        elif self.options.linger_ms == 0 or len(self._lingering) == 1:
            self.wake()

    def _open(self, opened: ProducerBatch, size: int, full: ProducerBatch | None) -> None:
        """Opens a new batch for a record of that size; `full` is the batch that has refused the record.

        Does nothing if another thread has opened one, or took the memory, and if another partition has its turn now.
        """
        lane, number = opened.queue.lane, opened.queue.partition
        batch: ProducerBatch | None = lane.open[number]
        if batch is not None:
            if batch is not full or batch.count == 0:
                return
            self._close(batch)
            if number == lane.sticky_partition and lane.sticky_bytes + size >= self.options.batch_size:
                # KIP-794: a partition gets a batch's worth before the next one gets its turn.
                lane.sticky_partition, lane.sticky_bytes = self.choose_partition(lane), 0
                return
        if not self.reserve(opened, HEADER_BYTES):
            return
        self._enqueue(opened.queue, opened)
        lane.open[number] = opened
        self._lingering.append(opened)

    def _new(self, lane: TopicLane, number: int) -> ProducerBatch:
        queue = self.queues[lane.topic][number]
        ratio = self.ratios.get(lane.topic, 1.0) * _RATIO_MARGIN if self.options.compressed else 1.0
        return ProducerBatch(queue, self._clock.monotonic_ms(), self.options.batch_size, ratio)

    def add_batch(self, batch: ProducerBatch) -> bool:
        """Takes a batch that was written elsewhere, behind all others of its partition; False if there is no memory."""
        if not self.reserve(batch, batch.used):
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
        self.incomplete[batch] = True
        queue.batches.append(batch)

    def _waited_for(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """A thread is about to wait for a batch: it carries the batch by itself, or the sender is called."""
        self.carrier.carry(batch, timeout_s)
        # A closed batch has called the sender, unless Ctrl-C came in between.
        if not batch.is_closed or not batch.attempts:
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
            if batch.count == 0 and not batch.is_closed:
                # Another thread is about to append its first record.
                empty.append(batch)
            elif batch.is_closed:
                # It has said so itself, unless Ctrl-C came in between.
                if self._is_first(batch):
                    self._ready[batch.queue] = None
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

    def _is_first(self, batch: ProducerBatch) -> bool:
        with self._lock_open:
            batches = batch.queue.batches
            return bool(batches) and batches[0] is batch

    @property
    def is_hurried(self) -> bool:
        """Whether batches leave before they are full or due: for a flush, or for a thread that waits for memory."""
        return bool(self._flushes or self._room_waiters)

    def next_due_ms(self) -> int | None:
        """The monotonic time at which the oldest open batch is due."""
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

    def take_first(self, batch: ProducerBatch) -> bool:
        """Takes a batch that is the oldest of its partition; False if a waiting thread has claimed it meanwhile."""
        with self._lock_open:
            if not batch.queue.batches or batch.queue.batches[0] is not batch:
                return False
            self.take(batch.queue)
            return True

    def claim(self, holder: Holder, may_go: Callable[[PartitionQueue], bool]) -> bool:
        """Takes a batch out for a thread that will carry it by itself, and holds its partition.

        Returns False, having changed nothing, unless it is the only batch and `may_go` says yes. That is asked last:
        whatever decides on a batch does so before the batch is done.
        """
        batch = holder.batch
        with self._lock_open:
            queue = batch.queue
            if len(self.incomplete) != 1 or self.is_hurried or batch.callbacks or batch.attempts:
                return False
            if not queue.batches or queue.batches[0] is not batch or not may_go(queue):
                return False
            queue.held_for = holder
            queue.batches.popleft()
            self._seal(batch)
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
            self._discard(batch)
            for part in parts:
                self.incomplete[part] = True
            for flush in self._flushes:
                flush.replace(batch, parts)
            self.resize(batch.reserved_bytes, sum(part.reserved_bytes for part in parts))
            # By their numbers: parts of the batch before may stand in the queue already.
            for part in reversed(parts):
                batch.queue.put_back(part)
        self.mark_ready(batch.queue)

    def forget(self, batch: ProducerBatch) -> None:
        """A batch is done: its memory is free again."""
        self.give_back(batch)
        if not self._discard(batch):
            return
        for flush in self._flushes.copy():
            flush.discard(batch)
        if self._room_waiters:
            self._wake_waiters()

    def forget_quietly(self, batch: ProducerBatch) -> bool:
        """Like `forget`, in any thread; False, having done nothing, if a flush or a waiting thread must be told."""
        with self._lock_open:
            if self.is_hurried:
                return False
            self.give_back(batch)
            self._discard(batch)
            return True

    def _discard(self, batch: ProducerBatch) -> bool:
        """Takes a batch off the incomplete ones; False if it is none of them."""
        return self.incomplete.pop(batch, False)

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
        """Takes a batch out of its queue, if it still waits there."""
        with self._lock_open:
            if batch in batch.queue.batches:
                batch.queue.batches.remove(batch)
                self._seal(batch)

    def remove_waiting(self) -> list[ProducerBatch]:
        """Takes all batches that are not in flight out of their queues."""
        with self._lock_open:
            return [
                batch for queues in self.queues.values() for queue in queues for batch in self.remove_waiting_of(queue)
            ]

    def remove_waiting_of(self, queue: PartitionQueue) -> list[ProducerBatch]:
        """Takes all batches out of one partition's queue."""
        with self._lock_open:
            return [self.take(queue) for _ in range(len(queue.batches))]

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
        """The number of threads and tasks that wait for memory."""
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


def _partition_of(lane: TopicLane, key: object) -> int:
    """The partition that a record goes to as things stand."""
    if isinstance(key, bytes) and lane.uses_keys:
        return partition_of_key(key, lane.partition_count)
    return lane.sticky_partition
