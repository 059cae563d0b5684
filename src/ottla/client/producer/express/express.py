"""One record at a time: a thread that sends a record and waits for it carries it to the broker by itself.

Handing a lone record to the loop's thread and its answer back costs several times what the broker takes. So once
a thread has waited for record after record with nothing else under way, `send` no longer calls the loop, and the thread
that waits takes the batch out of its queue, writes it to a socket of its own, and reads the answer. A batch that nobody
waits for is sent by the loop a moment later, and ends this way of sending until it is the pattern again.

Only an answer that says that all is well is dealt with here. Everything else, and a wait that is given up or
interrupted half-way, is handed to the loop, which goes on as after any other request. While a batch is carried its
partition is held: nothing else is sent to it, so that nothing overtakes. Only one batch is carried at a time, and only
if there is no other batch at all that is not done.
"""

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Purpose
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.express.lone_request import LoneRequest
from ottla.client.producer.express.road import Ride, Road
from ottla.client.producer.option import ProducerOptions
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response
from ottla.protocol.errors import NetworkError

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

_WAITS_BEFORE: Final = 8
"""The number of records waited for one by one after which the express path begins."""
_TICK_S: Final = 0.001
_IDLE_TICKS_MAX: Final = 50
_LEFT_ALONE_MS: Final = 2
"""A batch that is this old was not waited for."""
_ANSWER_BYTES: Final = 65_536


class LoneBatches(Protocol):
    """The producer's batches as `Express` needs them. Any thread may call all but `answered`."""

    def take(self, ride: Ride) -> bool:
        """Takes a batch that may go by itself, holds its partition for it, and writes it; False if it has to wait."""
        ...

    def sent(self, batch: ProducerBatch) -> None:
        """The batch is on its way: counts it."""
        ...

    def complete(self, batch: ProducerBatch, base_offset: int, log_append_time_ms: int) -> bool:
        """The broker has the batch; False, having done nothing, if the loop has to deal with that."""
        ...

    def mark_ready(self, queue: PartitionQueue) -> None:
        """Has the sender look at a partition."""
        ...

    def answered(
        self, batch: ProducerBatch, request: LoneRequest, connection: NodeConnection, result: Response | OttlaError
    ) -> None:
        """In the loop: deals with an answer, or with none, as with those to any other request."""
        ...

    def wake_sender(self) -> None:
        """Has the sender look at what has become ready."""
        ...

    def are_few(self) -> bool:
        """Whether at most one batch is not done."""
        ...

    def has_waited(self, age_ms: int) -> bool:
        """Whether an open batch is older than that."""
        ...


class Express:
    """Carries lone batches in the threads that wait for them."""

    def __init__(self, cluster: ClusterClient, batches: LoneBatches, options: ProducerOptions) -> None:
        """Must be made in the producer's event loop."""
        self.is_engaged = False
        """Whether threads carry their batches, so that the loop is not called for each."""
        self._cluster: Final = cluster
        self._batches: Final = batches
        self._options: Final = options
        self._loop: Final = asyncio.get_running_loop()
        self._roads: Final[dict[int, Road]] = {}
        self._requests: Final[dict[PartitionQueue, LoneRequest]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._waiting: Final[dict[Ride, Callable[[], None]]] = {}
        """Rides whose answers the loop waits for, and how it stops."""
        self._is_possible = True
        self._waits = 0
        self._rides = self._rides_before = self._idle_ticks = 0

    def carry(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """The caller waits for a batch: brings it to the broker and back, if it is the only one, for that long."""
        if not self.is_engaged:
            self._count_wait(batch)
            return
        ride = None if timeout_s is not None and timeout_s <= 0 else self._prepared(batch)
        if ride is None:
            return
        try:
            self._go(ride, timeout_s)
        except BaseException:
            # The interruption may have come while the road was left.
            self._in_loop(ride.road.leave, ride)
            raise

    def _go(self, ride: Ride, timeout_s: float | None) -> None:
        try:
            if self._batches.take(ride):
                self._take(ride, timeout_s)
        except BaseException as error:
            self._in_loop(self._go_on, ride)
            if not isinstance(error, (OSError, OttlaError)):
                raise
        finally:
            ride.road.leave(ride)

    def _count_wait(self, batch: ProducerBatch) -> None:
        """Prepares the express way once a thread has waited for each of several records."""
        if not self._is_possible or not self._batches.are_few():
            self._waits = 0
            return
        self._waits += 1
        if self._waits == _WAITS_BEFORE:
            self._in_loop(self._prepare, batch.queue)

    def _prepared(self, batch: ProducerBatch) -> Ride | None:
        """The way to the batch's leader, if there is one."""
        queue = batch.queue
        view = self._cluster.view
        partition = view.partition(queue.topic, queue.partition)
        road = None if partition is None else self._roads.get(partition.leader)
        if road is None or not road.is_open:
            self._in_loop(self._prepare, queue)
            return None
        request = self._requests.get(queue)
        if request is None or request.view is not view:
            version = road.connection.version_of(ApiKey.PRODUCE)
            request = self._requests[queue] = LoneRequest(batch, version, view, self._options)
        return Ride(batch, road, request)

    def _take(self, ride: Ride, timeout_s: float | None) -> None:
        """There and back. What is raised leaves the rest to the loop: no answer in time, a connection that ended."""
        batch, road, batches = ride.batch, ride.road, self._batches
        road.enter(ride)
        connection, link = road.connection, road.socket
        started = time.monotonic()
        pieces = ride.request.pieces(batch, ride.correlation_id, connection.client_id)
        size = sum(map(len, pieces))
        limit_ms = self._options.request_timeout_ms
        road.asked = ride
        sent = link.sendmsg(pieces)
        if sent < size:
            road.send_rest(b"".join(pieces)[sent:], limit_ms)
        ride.is_written = True
        # Counted while the broker works.
        batches.sent(batch)
        connection.count_request(size)
        self._rides += 1
        if not road.await_answer(started, limit_ms if timeout_s is None else min(limit_ms, timeout_s * 1000)):
            raise TimeoutError
        # Looked at, and taken when the batch is done: until then the loop could still read it.
        answer = link.recv(_ANSWER_BYTES, socket.MSG_PEEK)
        written = ride.request.written(answer, ride.correlation_id)
        if written is None or not batches.complete(batch, *written):
            self._in_loop(self._go_on, ride)
            return
        link.recv(len(answer))
        road.asked = None
        connection.count_answer(len(answer) - 4, started)

    def _in_loop(self, function: Callable[[_T], None], argument: _T) -> None:
        # With the loop closed the producer is, too, and all batches have failed.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, argument)

    # In the loop

    def _prepare(self, queue: PartitionQueue) -> None:
        """Connects to the partition's leader; from then on senders carry their batches."""
        partition = self._cluster.view.partition(queue.topic, queue.partition)
        if not self._is_possible or partition is None or partition.leader < 0 or self._tasks:
            return
        road = self._roads.get(partition.leader)
        if road is not None and road.connection.is_open:
            self._engage()
            return
        task = self._loop.create_task(self._connect(partition.leader))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, node_id: int) -> None:
        self._forget(node_id)
        try:
            connection = await self._cluster.connection(node_id, purpose=Purpose.EXPRESS)
        except OttlaError as error:
            _log.debug("no connection of its own for single records: %s", error)
            self._waits = 0
            return
        detached = connection.detach()
        if detached is None:
            # TLS lives in the loop.
            self._is_possible = False
            connection.close()
            return
        self._roads[node_id] = Road(connection, detached)
        self._engage()

    def _engage(self) -> None:
        if not self.is_engaged and self._is_possible:
            self.is_engaged = True
            self._idle_ticks = 0
            self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        """Ends the express way once batches stay that no thread waits for."""
        if not self.is_engaged:
            return
        self._idle_ticks = self._idle_ticks + 1 if self._rides == self._rides_before else 0
        self._rides_before = self._rides
        if self._batches.has_waited(_LEFT_ALONE_MS) or self._idle_ticks > _IDLE_TICKS_MAX:
            self._disengage()
        else:
            self._loop.call_later(_TICK_S, self._tick)

    def _disengage(self) -> None:
        self.is_engaged = False
        self._waits = 0
        # A thread that has still seen the old state has not called the sender.
        self._batches.wake_sender()

    def _go_on(self, ride: Ride) -> None:
        """A ride that did not come to its end in the thread that waits for it."""
        batch, queue = ride.batch, ride.batch.queue
        if ride in self._waiting:
            # Handed over already, and interrupted right after it.
            return
        if queue.held_for is not ride:
            if ride.road.asked is ride:
                ride.road.connection.close()
            self._batches.mark_ready(queue)
        elif batch.is_done or not ride.is_written:
            self._end(ride, NetworkError(f"a request to {ride.road.connection.node} was given up"))
        else:
            self._wait_on(ride)

    def _wait_on(self, ride: Ride) -> None:
        """Waits in the loop for an answer that its sender has not waited for, or that has come in part."""
        link = ride.road.socket
        seconds = self._options.request_timeout_ms / 1000

        def readable() -> None:
            try:
                received = link.recv(_ANSWER_BYTES)
            except BlockingIOError:
                return
            except OSError:
                received = b""
            ride.received += received
            if not received or ride.is_whole:
                stop()
                self._hear(ride)

        def stop() -> None:
            del self._waiting[ride]
            timer.cancel()
            self._loop.remove_reader(link)
            ride.road.leave(self)

        def late() -> None:
            stop()
            self._hear(ride)

        ride.road.enter(self)
        self._waiting[ride] = stop
        timer = self._loop.call_later(seconds, late)
        self._loop.add_reader(link, readable)

    def _hear(self, ride: Ride) -> None:
        """The loop's way to deal with an answer, or with none."""
        result: Response | OttlaError
        try:
            if not ride.is_whole:
                raise NetworkError(f"{ride.road.connection.node} disconnected, or did not answer in time")
            result = ride.request.response(ride.received)
        except OttlaError as error:
            result = error
        self._end(ride, result)

    def _end(self, ride: Ride, result: Response | OttlaError) -> None:
        batch, connection = ride.batch, ride.road.connection
        batch.queue.held_for = None
        if isinstance(result, OttlaError):
            # Half a frame may be in it, or an answer come later.
            connection.close()
        else:
            ride.road.asked = None
        self._batches.answered(batch, ride.request, connection, result)

    def _forget(self, node_id: int) -> None:
        road = self._roads.pop(node_id, None)
        if road is not None:
            road.drop()

    async def close(self) -> None:
        """Ends its connections; a thread that waits for an answer hears that none will come."""
        self.is_engaged = self._is_possible = False
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for stop in list(self._waiting.values()):
            stop()
        for node_id in list(self._roads):
            self._forget(node_id)

    def forbid(self) -> None:
        """This process is a fork: neither the loop nor the sockets are its own."""
        self.is_engaged = self._is_possible = False
