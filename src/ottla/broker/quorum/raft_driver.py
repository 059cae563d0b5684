"""Drives `RaftCore` on a real clock, disk and network: feeds it events, carries out its effects in order.

Everything happens on the event loop's thread, except that the log is flushed on a thread of its own. An event that
comes up while effects are being carried out waits for its turn, so the core never sees itself half way. What the state
machine on top is told (committed batches, snapshots, leaders) keeps its order even when taking in a piece takes several
turns of the loop; answers and requests to other nodes don't wait for that.

A failure in here leaves the quorum in an undefined state: the node is told once and must stop.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

from ottla.base.clock import Clock
from ottla.base.errors import OttlaError
from ottla.broker.quorum.quorum_network import QuorumNetwork
from ottla.broker.quorum.state_machine import StateMachine
from ottla.metadata.store.metadata_log import MetadataLog
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for
from ottla.raft.core import RaftCore
from ottla.raft.effect import (
    ApplyCommitted,
    Effect,
    FlushLog,
    LeaderChanged,
    LoadSnapshot,
    SendRequest,
    SendResponse,
    ShutdownCompleted,
)
from ottla.raft.event import (
    CommitsApplied,
    Event,
    LogFlushed,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    ShutdownRequested,
    TimeElapsed,
)
from ottla.raft.identity import Node

_log = logging.getLogger(__name__)

ListenerEffect = ApplyCommitted | LoadSnapshot | LeaderChanged
_NEVER_S: Final = 3600.0
"""A timer that is armed for later than this is armed anew when it fires."""


class RaftDriver:
    """One running member of the quorum. `start` it once, then `shut_down` or `close` it."""

    def __init__(
        self,
        core: RaftCore,
        log: MetadataLog,
        network: QuorumNetwork,
        clock: Clock,
        on_failure: Callable[[Exception], None],
    ) -> None:
        """`clock` never runs backwards; `on_failure` hears of the one error after which nothing works any more."""
        self.core = core
        self._log = log
        self._network = network
        self._clock = clock
        self._on_failure = on_failure
        self._loop = asyncio.get_running_loop()
        self._flusher = ThreadPoolExecutor(1, "metadata-flush")
        self._machine: StateMachine | None = None
        self._events: deque[Event] = deque()
        self._for_listener: deque[ListenerEffect] = deque()
        self._is_handling = False
        self._is_applying = False
        self._is_closed = False
        self._waiting: dict[int, Callable[[Response], None]] = {}
        self._last_request_id = 0
        self._refusals: dict[Node, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self._is_woken = False
        self._shutdown: asyncio.Future[bool] | None = None

    def start(self, machine: StateMachine) -> None:
        """Takes up what the last run left; `machine` follows the committed log from here on."""
        self._machine = machine
        self._run(lambda: self.core.start(self._clock.now_ms()))

    def handle(self, event: Event) -> None:
        """Gives the core an event and does what it wants done; at once, or after what is being done."""
        if self._is_closed:
            return
        self._events.append(event)
        if not self._is_handling:
            self._run(list)

    def request(self, request: Request, api_version: int, listener: str, answer: Callable[[Response], None]) -> None:
        """Has the core answer a request of the quorum's own, now or later."""
        self._last_request_id += 1
        self._waiting[self._last_request_id] = answer
        self.handle(RequestReceived(self._last_request_id, request, api_version, listener))

    def append(self, epoch: int, values: Sequence[bytes]) -> int:
        """Appends as the leader of `epoch`; the offset of the last. Raises what `RaftCore.append` raises."""
        last_offset = self.core.append(epoch, values, self._clock.now_ms())
        if not self._is_handling:
            self._arm()
        return last_offset

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        """Raises kraft.version; see `RaftCore.upgrade_kraft_version`."""
        self.core.upgrade_kraft_version(epoch, level, self._clock.now_ms(), validate_only=validate_only)
        if not self._is_handling:
            self._arm()

    def call_soon(self, callback: Callable[..., None], *arguments: object) -> None:
        """Calls in the next turn of the loop, for the state machine: what fails there fails the node as well."""
        self._loop.call_soon(self._call_guarded, callback, arguments)

    def leader_node(self, listener: str) -> Node | None:
        """The leader and its address, as far as known."""
        role = self.core.role
        if role.leader_id is None:
            return None
        address = role.leader_endpoints.address(listener)
        if address is not None:
            return Node(role.leader_id, address.host, address.port)
        return self.core.voters.node(role.leader_id, listener)

    async def shut_down(self, timeout_ms: int) -> bool:
        """Hands over a leadership, as far as the time allows, then closes; whether it went gracefully."""
        graceful = True
        if not self._is_closed:
            self._shutdown = self._loop.create_future()
            self.handle(ShutdownRequested(timeout_ms))
            graceful = await self._shutdown
        await self.close()
        return graceful

    async def close(self) -> None:
        """Stops driving; a flush that is under way is waited for."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._network.close()
        await asyncio.to_thread(self._flusher.shutdown)

    def _run(self, first: Callable[[], list[Effect]]) -> None:
        """Works off effects and events until there are none; only one such loop runs at a time."""
        self._is_handling = True
        try:
            with self._failing():
                self._carry_out(first())
                while self._events and not self._is_closed:
                    self._carry_out(self.core.handle(self._events.popleft(), self._clock.now_ms()))
                if self._machine is not None:
                    self._machine.role_settled()
        finally:
            self._is_handling = False
        if not self._is_closed:
            self._arm()

    def _call_guarded(self, callback: Callable[..., None], arguments: tuple[object, ...]) -> None:
        if not self._is_closed:
            with self._failing():
                callback(*arguments)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Stops the node after an exception; Ottla's own errors are logged without a traceback."""
        try:
            yield
        except OttlaError as error:
            self._fail(error)
        except Exception as error:
            self._fail(error)
            raise

    def _carry_out(self, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case SendRequest():
                    self._send(effect)
                case SendResponse():
                    self._waiting.pop(effect.request_id)(effect.response)
                case FlushLog():
                    self._flusher.submit(self._flush)
                case ShutdownCompleted(graceful):
                    if self._shutdown is not None and not self._shutdown.done():
                        self._shutdown.set_result(graceful)
                case ApplyCommitted() | LoadSnapshot() | LeaderChanged():
                    self._for_listener.append(effect)
                    self._tell_listener()

    def _tell_listener(self) -> None:
        machine = self._machine
        assert machine is not None
        while self._for_listener and not self._is_applying:
            match self._for_listener.popleft():
                case ApplyCommitted() as effect:
                    self._is_applying = True
                    self._log.update_high_watermark(effect.last_offset + 1)
                    machine.apply_committed(effect, self._applied)
                case LoadSnapshot(snapshot_id):
                    self._is_applying = True
                    machine.load_snapshot(snapshot_id, self._applied)
                case LeaderChanged(leader):
                    machine.leader_changed(leader)

    def _applied(self) -> None:
        self._is_applying = False
        if self._is_closed:
            return
        self._events.append(CommitsApplied())
        if not self._is_handling:
            self._run(self._tell_rest)

    def _tell_rest(self) -> list[Effect]:
        self._tell_listener()
        return []

    def _send(self, effect: SendRequest) -> None:
        node, correlation_id = effect.destination, effect.correlation_id

        def heard(answer: Response | ErrorCode) -> None:
            if isinstance(answer, Response):
                self._note_refusal(node, answer)
                self.handle(ResponseReceived(correlation_id, node.id, answer))
            else:
                self.handle(RequestFailed(correlation_id, node.id, answer))

        self._network.send(node, effect.request, heard)

    def _note_refusal(self, node: Node, answer: Response) -> None:
        """Says once why a node has nothing to do with this one: asking again and again does not mend it.

        What does mend itself, as with a new leader that has no high watermark yet, is no refusal.
        """
        code = int(getattr(answer, "error_code", ErrorCode.NONE))
        if code != self._refusals.get(node, ErrorCode.NONE):
            self._refusals[node] = code
            if code != ErrorCode.NONE and not error_for(code).retriable:
                _log.error("[RaftManager] %s:%d refuses this node: %s", node.host, node.port, error_for(code))

    def _flush(self) -> None:
        """On the flusher's thread."""
        try:
            self._log.flush()
        except Exception as error:  # noqa: BLE001 - an edge: the thread's failures must reach the node
            self._call(self._fail, error)
        else:
            self._call(self.handle, LogFlushed())

    def _call(self, callback: Callable[..., None], argument: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback, argument)

    def _arm(self) -> None:
        """Sets the timer for the core's deadline; one that is early enough is left alone."""
        deadline_ms = self.core.deadline_ms
        if deadline_ms <= self._clock.now_ms():
            if not self._is_woken:
                self._is_woken = True
                self._loop.call_soon(self._wake)
            return
        if self._timer is not None:
            if self._timer_ms <= deadline_ms:
                return
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_s = min((deadline_ms - self._clock.now_ms()) / 1000, _NEVER_S)
        self._timer = self._loop.call_later(delay_s, self._timer_fired)

    def _timer_fired(self) -> None:
        self._timer = None
        if self.core.deadline_ms <= self._clock.now_ms():
            self.handle(TimeElapsed())
        elif not self._is_closed:
            self._arm()

    def _wake(self) -> None:
        self._is_woken = False
        self.handle(TimeElapsed())

    def _fail(self, error: Exception) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        _log.critical("the quorum cannot go on: %s", error, exc_info=None if isinstance(error, OttlaError) else error)
        if self._timer is not None:
            self._timer.cancel()
        if self._shutdown is not None and not self._shutdown.done():
            self._shutdown.set_result(False)
        self._on_failure(error)
