"""One record at a time: a thread that sends a record and waits for it carries it to the broker by itself.

Handing a lone record to the loop's thread and its answer back costs several times what the broker takes. So once
somebody has waited for record after record with nothing else under way, `send` no longer calls the loop, and the thread
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
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_pool import Lane
from ottla.client.producer.batch import PartitionQueue, ProducerBatch
from ottla.client.producer.lone_request import LoneRequest
from ottla.client.producer.sender import Sender
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Response
from ottla.protocol.errors import NetworkError

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

_WAITS_BEFORE: Final = 8
"""So many records were waited for one by one before this is the pattern."""
_TICK_S: Final = 0.001
_IDLE_TICKS_MAX: Final = 50
_LEFT_ALONE_MS: Final = 2
"""A batch that is this old was not waited for."""
_ANSWER_BYTES: Final = 65_536
_NEAR_S: Final = 0.0002
"""If the last answer came within this, the next is looked out for as long: sleeping and being woken takes a third of
such a round trip."""


class _Road:
    """A socket to a broker that no event loop listens to."""

    __slots__ = ("_is_dropped", "_is_near", "_is_used", "connection", "is_clean", "last_id", "readable", "socket")

    def __init__(self, connection: NodeConnection, detached: socket.socket) -> None:
        self.connection: Final = connection
        self.socket: Final = detached
        self.readable: Final = select.poll()
        self.readable.register(detached, select.POLLIN)
        self.last_id = 1 << 30
        self.is_clean = True
        """Whether all that was asked has been answered, and the answers are read."""
        self._is_used = self._is_dropped = self._is_near = False

    @property
    def is_open(self) -> bool:
        """Whether a request may be sent now."""
        connection = self.connection
        if not self.is_clean or not connection.is_open or connection.throttled_ms:
            return False
        return connection.renew_at > time.monotonic() + 1

    def send_rest(self, rest: bytes, timeout_ms: int) -> None:
        """What the system did not take at once."""
        self.socket.settimeout(timeout_ms / 1000)
        self.socket.sendall(rest)
        self.socket.setblocking(False)

    def await_answer(self, sent_at: float, timeout_ms: float) -> bool:
        """Waits until there is something to read, awake at first if that may be any moment; False if it is late."""
        poll = self.readable.poll
        if self._is_near:
            while time.monotonic() - sent_at < _NEAR_S:
                # Other threads may run meanwhile: the system is asked without the interpreter lock.
                if poll(0):
                    return True
                # With one core for both it is the broker's turn.
                os.sched_yield()
        is_there = bool(poll(timeout_ms))
        self._is_near = is_there and time.monotonic() - sent_at < _NEAR_S
        return is_there

    def enter(self) -> None:
        """A thread is about to use the socket."""
        self._is_used = True

    def leave(self) -> None:
        """It does not any more."""
        self._is_used = False
        if self._is_dropped:
            self.socket.close()

    def drop(self) -> None:
        """Ends the connection; who waits on it hears that, and only then is its number free for others."""
        self._is_dropped = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        if not self._is_used:
            self.socket.close()


class _Ride:
    """A batch on its way: what is known if it does not end as it should."""

    __slots__ = ("batch", "correlation_id", "is_written", "received", "request", "road")

    def __init__(self, batch: ProducerBatch, road: _Road, request: LoneRequest) -> None:
        self.batch: Final = batch
        self.road: Final = road
        self.request: Final = request
        road.last_id += 1
        self.correlation_id: Final = road.last_id
        self.is_written = False
        self.received = b""

    @property
    def is_whole(self) -> bool:
        """Whether all of the answer has come."""
        received = self.received
        return len(received) >= 4 and len(received) >= 4 + int.from_bytes(received[:4], "big")


class Express:
    """Carries lone batches in the threads that wait for them."""

    def __init__(self, cluster: ClusterClient, sender: Sender, loop: asyncio.AbstractEventLoop) -> None:
        self._cluster: Final = cluster
        self._sender: Final = sender
        self._accumulator: Final = sender.accumulator
        self._loop: Final = loop
        self._roads: Final[dict[int, _Road]] = {}
        self._requests: Final[dict[PartitionQueue, LoneRequest]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._waiting: Final[dict[_Ride, Callable[[], None]]] = {}
        """Rides whose answers the loop waits for, and how it stops."""
        self._is_possible = True
        self._waits = 0
        self._rides = self._rides_before = self._idle_ticks = 0

    def carry(self, batch: ProducerBatch, timeout_s: float | None) -> None:
        """The caller waits for a batch: brings it to the broker and back, if it is the only one, for that long."""
        if not self._accumulator.senders_wait:
            self._count_wait(batch)
            return
        ride = None if timeout_s is not None and timeout_s <= 0 else self._prepared(batch)
        if ride is None:
            return
        try:
            if self._sender.take_alone(batch):
                self._take(ride, timeout_s)
        except BaseException as error:
            self._in_loop(self._go_on, ride)
            if not isinstance(error, (OSError, OttlaError)):
                raise
        finally:
            ride.road.leave()

    def _count_wait(self, batch: ProducerBatch) -> None:
        """Is somebody waiting for each record?"""
        if not self._is_possible or len(self._accumulator.incomplete) > 1:
            self._waits = 0
            return
        self._waits += 1
        if self._waits == _WAITS_BEFORE:
            self._in_loop(self._prepare, batch.queue)

    def _prepared(self, batch: ProducerBatch) -> _Ride | None:
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
            request = self._requests[queue] = LoneRequest(batch, version, view, self._sender.options)
        return _Ride(batch, road, request)

    def _take(self, ride: _Ride, timeout_s: float | None) -> None:
        """There and back. What is raised leaves the rest to the loop: no answer in time, a connection that ended."""
        batch, road, sender = ride.batch, ride.road, self._sender
        road.enter()
        connection, link = road.connection, road.socket
        sender.write_alone(batch)
        started = time.monotonic()
        pieces = ride.request.pieces(batch, ride.correlation_id, connection.client_id)
        size = sum(map(len, pieces))
        limit_ms = sender.options.request_timeout_ms
        road.is_clean = False
        sent = link.sendmsg(pieces)
        if sent < size:
            road.send_rest(b"".join(pieces)[sent:], limit_ms)
        ride.is_written = True
        # Counted while the broker works.
        sender.count_alone(batch)
        connection.count_request(size)
        self._rides += 1
        if not road.await_answer(started, limit_ms if timeout_s is None else min(limit_ms, timeout_s * 1000)):
            raise TimeoutError
        # Looked at, and taken when the batch is done: until then the loop could still read it.
        answer = link.recv(_ANSWER_BYTES, socket.MSG_PEEK)
        written = ride.request.written(answer, ride.correlation_id)
        if written is None or not sender.complete_alone(batch, *written):
            self._in_loop(self._go_on, ride)
            return
        link.recv(len(answer))
        road.is_clean = True
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
            connection = await self._cluster.connection(node_id, lane=Lane.EXPRESS)
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
        self._roads[node_id] = _Road(connection, detached)
        self._engage()

    def _engage(self) -> None:
        if not self._accumulator.senders_wait and self._is_possible:
            self._accumulator.senders_wait = True
            self._idle_ticks = 0
            self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        """Ends the express way once batches stay that no thread waits for."""
        if not self._accumulator.senders_wait:
            return
        self._idle_ticks = self._idle_ticks + 1 if self._rides == self._rides_before else 0
        self._rides_before = self._rides
        if self._accumulator.has_waited(_LEFT_ALONE_MS) or self._idle_ticks > _IDLE_TICKS_MAX:
            self._disengage()
        else:
            self._loop.call_later(_TICK_S, self._tick)

    def _disengage(self) -> None:
        self._accumulator.senders_wait = False
        self._waits = 0
        # A sender that has still seen the old state has not called: looked at after the state was changed.
        self._accumulator.wake()

    def _go_on(self, ride: _Ride) -> None:
        """A ride that did not come to its end in the thread that waits for it."""
        batch, queue = ride.batch, ride.batch.queue
        if queue.held_for is not batch:
            if not ride.road.is_clean:
                ride.road.connection.close()
            self._accumulator.mark_ready(queue)
        elif batch.is_done or not ride.is_written:
            self._end(ride, NetworkError(f"a request to {ride.road.connection.node} was given up"))
        else:
            self._wait_on(ride)

    def _wait_on(self, ride: _Ride) -> None:
        """Waits in the loop for an answer that its sender has not waited for, or that has come in part."""
        link = ride.road.socket
        seconds = self._sender.options.request_timeout_ms / 1000

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
            ride.road.leave()

        def late() -> None:
            stop()
            self._hear(ride)

        ride.road.enter()
        self._waiting[ride] = stop
        timer = self._loop.call_later(seconds, late)
        self._loop.add_reader(link, readable)

    def _hear(self, ride: _Ride) -> None:
        """The loop's way to deal with an answer, or with none."""
        result: Response | OttlaError
        try:
            if not ride.is_whole:
                raise NetworkError(f"{ride.road.connection.node} disconnected, or did not answer in time")
            result = ride.request.response(ride.received)
        except OttlaError as error:
            result = error
        self._end(ride, result)

    def _end(self, ride: _Ride, result: Response | OttlaError) -> None:
        batch, connection = ride.batch, ride.road.connection
        batch.queue.held_for = None
        if isinstance(result, OttlaError):
            # Half a frame may be in it, or an answer come later.
            connection.close()
        else:
            ride.road.is_clean = True
        self._sender.answered_alone(batch, ride.request, connection, result)

    def _forget(self, node_id: int) -> None:
        road = self._roads.pop(node_id, None)
        if road is not None:
            road.drop()

    async def close(self) -> None:
        """Ends its connections; a thread that waits for an answer hears that none will come."""
        self._accumulator.senders_wait = self._is_possible = False
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
        self._accumulator.senders_wait = self._is_possible = False
