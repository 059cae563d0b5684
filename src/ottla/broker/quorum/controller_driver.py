"""Drives the `Controller` of this node: claims and renounces it with the quorum's leadership, and keeps its time.

The controller is active only while this replica is the leader of the very epoch it was claimed for. A replica that
resigns is told of no other leader for a while: it renounces all the same, at once. A controller whose image and log
may have come apart, because an operation broke after it had written something, is worse than none: it renounces, and
the leadership is given up with it, so that the next one starts from what is committed.
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ottla.base.clock import Clock
from ottla.base.errors import OttlaError
from ottla.broker.quorum.raft_driver import RaftDriver
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller
from ottla.metadata.controller.controller import Controller
from ottla.metadata.loader import MetadataLoader
from ottla.protocol.definition import Request
from ottla.protocol.errors import NotControllerError, UnknownServerError
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.raft.event import ResignRequested
from ottla.raft.identity import LeaderAndEpoch
from ottla.raft.roles.leader import Leader

_log = logging.getLogger(__name__)


class ControllerDriver:
    """The controller of a node in the quorum."""

    def __init__(
        self,
        make_controller: Callable[["ControllerDriver"], Controller],
        raft: RaftDriver,
        loader: MetadataLoader,
        clock: Clock,
        node_id: int,
    ) -> None:
        """`make_controller` makes the controller with `overflowed` as the way to hear of a quorum that is full."""
        self.node_id = node_id
        self._raft = raft
        self._loader = loader
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._epoch = -1
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = 0
        self.controller = make_controller(self)

    @property
    def is_active(self) -> bool:
        """Whether this node decides."""
        return self.controller.is_active

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        """Claims our own leadership, and renounces when it is another's."""
        if leader.leader_id != self.node_id:
            self._renounce(f"epoch {leader.epoch} has leader {leader.leader_id}")
            return
        self._epoch = leader.epoch
        _log.info("[Controller id=%d] becoming the active controller at epoch %d", self.node_id, leader.epoch)
        try:
            with self._in_doubt_if_broken():
                self._claim()
        except OttlaError as error:
            _log.exception("[Controller id=%d] cannot take over in epoch %d: %s", self.node_id, leader.epoch, error)
            self._give_up("it cannot take over")

    def role_settled(self) -> None:
        """Renounces if the replica is not the leader any more that the controller was claimed for."""
        if self.is_active and not self._leads:
            role = self._raft.core.role
            self._renounce(f"the quorum's role is {role.kind.value} in epoch {role.epoch}")

    def committed(self, offset: int) -> None:
        """Records up to `offset` are committed: answers that waited for them leave.

        What breaks in a caller's callback is that caller's loss. The metadata is true, and the other answers leave.
        """
        is_told = False
        while not is_told:
            try:
                self.controller.committed(offset)
                is_told = True
            except Exception as error:  # noqa: BLE001 - an edge: callbacks of all kinds of callers
                _log.error("[Controller id=%d] an answer was lost on its way: %s", self.node_id, error, exc_info=error)
        self._arm()

    def submit(self, request: Request, caller: Caller) -> Answer:
        """Carries out a request; the answer is given once what it rests on is committed."""
        now_ms = self._clock.now_ms()
        if isinstance(request, BrokerHeartbeatRequest):
            self.controller.heard(request.broker_id, request.broker_epoch, now_ms)
        try:
            with self._in_doubt_if_broken():
                return self.controller.submit(request, now_ms, caller)
        except OttlaError as error:
            _log.exception("[Controller id=%d] %s failed: %s", self.node_id, type(request).__name__, error)
            refusal = Answer()
            refusal.refuse(UnknownServerError())
            return refusal

    def overflowed(self, epoch: int) -> None:
        """The quorum takes no more records of that epoch for now."""
        _log.error("[Controller id=%d] the metadata log does not keep up in epoch %d: resigning", self.node_id, epoch)
        self._resign(epoch)

    def close(self) -> None:
        """Decides nothing any more; requests that wait for an answer are refused."""
        self._renounce("this node stops")
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _claim(self) -> None:
        now_ms = self._clock.now_ms()
        image, in_transaction = self._loader.image, self._loader.in_transaction
        try:
            self.controller.claim(self._epoch, image, now_ms, in_transaction=in_transaction)
        except NotControllerError:
            _log.info("[Controller id=%d] epoch %d is over already", self.node_id, self._epoch)

    def _renounce(self, reason: str) -> None:
        if self.is_active:
            _log.info("[Controller id=%d] renouncing epoch %d: %s", self.node_id, self._epoch, reason)
            self.controller.renounce()

    def _resign(self, epoch: int) -> None:
        """In a turn of its own: the caller is in the middle of something."""
        self._loop.call_soon(self._raft.handle, ResignRequested(epoch))

    def _give_up(self, reason: str) -> None:
        self._renounce(reason)
        self._resign(self._epoch)

    @contextmanager
    def _in_doubt_if_broken(self) -> Iterator[None]:
        """An operation that breaks after it has written ends the term: which half of it counts is unknown.

        The controller may have seen that itself, and be idle: the leadership goes all the same.
        """
        before, was_active = self._raft.core.next_offset, self.is_active
        try:
            yield
        except BaseException:
            if self._raft.core.next_offset != before:
                self._renounce("its state is in doubt")
            raise
        finally:
            if was_active and not self.is_active and self._leads:
                self._resign(self._epoch)
            self._arm()

    @property
    def _leads(self) -> bool:
        """Whether the replica is still the leader that the controller was claimed for."""
        role = self._raft.core.role
        return isinstance(role, Leader) and role.epoch == self._epoch

    def _arm(self) -> None:
        """Sets the timer for the next tick; one that is early enough is left alone."""
        due_ms = self.controller.next_tick_ms
        if due_ms is None or (self._timer is not None and self._timer_ms <= due_ms):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = due_ms
        self._timer = self._loop.call_later(max(due_ms - self._clock.now_ms(), 0) / 1000, self._tick)

    def _tick(self) -> None:
        self._timer = None
        due_ms = self.controller.next_tick_ms
        if due_ms is None:
            return
        now_ms = self._clock.now_ms()
        if due_ms > now_ms:
            self._arm()
            return
        try:
            with self._in_doubt_if_broken():
                fenced = self.controller.tick(now_ms)
            if fenced is not None:
                _log.warning("[Controller id=%d] Fenced broker %d: its session timed out", self.node_id, fenced)
        except OttlaError as error:
            _log.exception("[Controller id=%d] periodic work failed: %s", self.node_id, error)
            self._give_up("its periodic work fails")
