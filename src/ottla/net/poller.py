"""Serves all ready sockets in one go: an `epoll` of our own, nested in the event loop.

The loop watches a single descriptor, that of the `epoll`. When it is ready a round begins: every socket with news is
served in a tight loop, without a task, handle or future for each. What must not happen in the middle of a round
(closing descriptors, whose numbers might be given out again; calling the handler from inside an answer) waits for its
end: `at_round_end`. Everything runs on the loop's thread, but for the sending of small answers: what a round has to
say may leave while the next one is served (`sender`), and is all gone before the loop has its turn.
"""

import asyncio
import os
import select
from collections import deque
from collections.abc import Callable
from typing import Final

from ottla.net.admission import Admission
from ottla.net.buffer_pool import BufferPool
from ottla.net.channel import Channel, flush_all
from ottla.net.limits import KAFKA_DEFAULTS, ServerLimits
from ottla.net.request_memory import RequestMemory
from ottla.net.round_sender import RoundSender

SHARED_BYTES: Final = 262_144
"""The most bytes of one `recv`, unless a large frame has a buffer of its own."""

_EVENTS_MAX: Final = 256
_ROUNDS_S_MAX: Final = 0.001
"""Rounds follow each other while there is news, for as long as this: then the loop's timers and callbacks have a turn.
A busy server so pays for the loop once in many rounds."""
_BRISK_S: Final = 0.000_08
"""A client that sends its next request within this time after the last one was served, one after the other, is waited
for awake: to sleep and be woken up takes longer than the request itself."""
_END_PASSES_MAX: Final = 4
"""How often the end of a round looks for what its own callbacks added, before the loop has its turn."""


class Poller:
    """One `epoll` nested in the asyncio loop, and what all sockets on it share."""

    __slots__ = (
        "_at_end",
        "_at_next",
        "_brisk_s",
        "_brisk_until",
        "_callbacks",
        "_epoll",
        "_is_alone",
        "_is_in_round",
        "_is_scheduled",
        "_limits",
        "admission",
        "answering",
        "buffers",
        "loop",
        "memory",
        "now",
        "sender",
        "sending",
        "view",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, limits: ServerLimits = KAFKA_DEFAULTS) -> None:
        self.loop: Final = loop
        self.view: Final = memoryview(bytearray(SHARED_BYTES))
        """Where small frames are received; its content lasts for one callback."""
        self.buffers: Final = BufferPool()
        self.memory: Final = RequestMemory(limits.queued_bytes_max)
        self.admission: Final = Admission(limits)
        self.now = loop.time()
        """The loop's time at the start of the round: cheap, and good enough to tell who is idle."""
        self._limits = limits
        self._epoll: Final = select.epoll()
        self._callbacks: Final[dict[int, Callable[[int], None]]] = {}
        self._at_end: Final[deque[Callable[[], None]]] = deque()
        self._at_next: Final[list[Callable[[], None]]] = []
        # On a single processor, to wait awake keeps the client from sending, and a second thread takes turns with us.
        self._is_alone: Final = len(os.sched_getaffinity(0)) == 1
        self._brisk_s: Final = 0.0 if self._is_alone else _BRISK_S
        self._brisk_until = 0.0
        self._is_in_round = False
        self._is_scheduled = False
        self.answering: Final[list[Channel]] = []
        """Connections with answers for the end of the round."""
        self.sender: Final = RoundSender()
        """Has small answers leave soon, with those of other connections; `Connection.unsent` hears what did not go.

        One for each connection until `sending` counts on, and only in a round, at its end.
        """
        self.sending = 1
        """Counts how often all answers have left; those that were given to `sender` under this number may not have."""
        loop.add_reader(self._epoll.fileno(), self._run_rounds)

    @property
    def limits(self) -> ServerLimits:
        """The limits of all listeners together; may be replaced at any time."""
        return self._limits

    @limits.setter
    def limits(self, limits: ServerLimits) -> None:
        self._limits = limits
        self.admission.change_limits(limits)
        self.memory.change_limit(limits.queued_bytes_max)

    def register(self, fd: int, mask: int, callback: Callable[[int], None]) -> None:
        """Calls back with the events of `fd` in each round that has some."""
        self._epoll.register(fd, mask)
        self._callbacks[fd] = callback

    def modify(self, fd: int, mask: int) -> None:
        """Changes which events of `fd` are of interest; hang-ups and errors always are."""
        self._epoll.modify(fd, mask)

    def unregister(self, fd: int) -> None:
        """Forgets `fd`. It must stay open until the end of the round."""
        if self._callbacks.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def at_round_end(self, callback: Callable[[], None]) -> None:
        """Calls back once, when all sockets of the current round are served; soon, if there is no round."""
        self._at_end.append(callback)
        if not self._is_in_round and not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._run_scheduled)

    def at_next_round(self, callback: Callable[[], None]) -> None:
        """Calls back once, after all other ready sockets have had a turn."""
        self._at_next.append(callback)
        if not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._run_scheduled)

    def finish_sends(self) -> None:
        """Returns when all that was given to `sender` has left, or its connection knows what did not."""
        unsent = self.sender.finish()
        self.sending += 1
        for connection, data, sent, error in unsent:
            connection.unsent(data, sent, error)

    def close(self) -> None:
        """Stops polling; what waits for the end of a round is called first."""
        if self._epoll.closed:
            return
        while self._at_end or self.answering:
            self._call_at_end()
        self.finish_sends()
        self.sender.close()
        self.loop.remove_reader(self._epoll.fileno())
        self._epoll.close()
        self._callbacks.clear()

    def _run_rounds(self) -> None:
        poll, callbacks, time = self._epoll.poll, self._callbacks, self.loop.time
        self._is_in_round = True
        self.now = time()
        end = self.now + _ROUNDS_S_MAX
        is_brisk = self.now < self._brisk_until
        try:
            while events := poll(0, _EVENTS_MAX) or (self._wait_awake() if is_brisk else ()):
                for fd, mask in events:
                    callback = callbacks.get(fd)
                    if callback is not None:
                        callback(mask)
                self._end_round()
                self.now = time()
                self._brisk_until = self.now + self._brisk_s
                if self._epoll.closed:
                    break
                if self.now > end:
                    # Its turn is short; asleep in it, the loop would be late for the next request.
                    self.loop.call_soon(self._run_rounds)
                    break
        finally:
            self._leave_round()

    def _wait_awake(self) -> list[tuple[int, int]]:
        """The next events, if they come as soon as the last ones did."""
        self.finish_sends()
        poll, time = self._epoll.poll, self.loop.time
        while time() < self._brisk_until:
            events = poll(0, _EVENTS_MAX)
            if events:
                return events
        return []

    def _run_scheduled(self) -> None:
        self._is_scheduled = False
        if self._epoll.closed:
            return
        self._is_in_round = True
        self.now = self.loop.time()
        self._at_end.extend(self._at_next)
        self._at_next.clear()
        try:
            self._end_round()
        finally:
            self._leave_round()

    def _end_round(self) -> None:
        """Sends what the round has to say, once that of the one before has left."""
        self.finish_sends()
        for _ in range(_END_PASSES_MAX):
            self._call_at_end()
            if not self._at_end and not self.answering:
                break
        if self._is_alone or not self.sender.start():
            self.finish_sends()

    def _call_at_end(self) -> None:
        """One pass over what waits for the end of the round; it may add to it."""
        at_end = self._at_end
        for _ in range(len(at_end)):
            at_end.popleft()()
        flush_all(self.answering)

    def _leave_round(self) -> None:
        """Whatever is left, because there was too much of it or because a callback failed, comes soon."""
        self.finish_sends()
        self._is_in_round = False
        if (self._at_end or self.answering) and not self._is_scheduled:
            self._is_scheduled = True
            self.loop.call_soon(self._run_scheduled)
