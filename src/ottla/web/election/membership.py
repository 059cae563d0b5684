"""One instance's membership in the group: joins, tells the group's leader who we are, and keeps the seat.

Being the primary is a lease: it ends by itself when no heartbeat was answered for a session, because the coordinator
may have given the seat to another one by then. Invariant: this instance joins again only when no batch of its writer
is under way, so two primaries never write at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.node_pool import Purpose
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from ottla.web.election.identity import (
    Assignment,
    AssignmentError,
    Identity,
    assign,
    decode_assignment,
    decode_identity,
    encode_assignment,
    encode_identity,
)

_R = TypeVar("_R", bound=Response)
_log: Final = logging.getLogger(__name__)
_PAUSE_S: Final = 0.5
_LEAVE_MS: Final = 2_000
_JOIN_AGAIN: Final = frozenset({ErrorCode.REBALANCE_IN_PROGRESS})
_NEW_MEMBER: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.FENCED_INSTANCE_ID}
)
_OTHER_COORDINATOR: Final = frozenset(
    {ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
)


@frozen
class GroupOptions:
    """The timeouts of the group."""

    group_id: str
    session_timeout_ms: int
    heartbeat_interval_ms: int
    rebalance_timeout_ms: int
    protocol_type: str = "sr"
    """The registry's, as Confluent's instances say it."""
    protocol: str = "v0"


class Membership:
    """One member. `primary` is the instance that writes, None while there is none that we know of."""

    def __init__(self, client: Mapping[str, object], options: GroupOptions, identity: Identity) -> None:
        self.primary: Identity | None = None
        self.on_elected: Callable[[], None] = lambda: None
        """Hears that a primary is known, ourselves or another."""
        self.before_joining: Callable[[], Awaitable[None]] = _nothing
        """Awaited when our seat is given up, before we join again."""
        self._options: Final = options
        self._identity: Final = identity
        self._settings: Final = ClientSettings.of(ADMIN_KEYS, client)
        self._cluster: ClusterClient | None = None
        self._member_id = ""
        self._generation = -1
        self._is_primary = False
        self._lease_until = 0.0
        self._known: Final = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def generation(self) -> int:
        """The generation of the group that this instance takes part in."""
        return self._generation

    @property
    def is_primary(self) -> bool:
        """Whether this instance is the primary, and its lease has not run out."""
        return self._is_primary and asyncio.get_running_loop().time() < self._lease_until

    def start(self) -> None:
        """Begins to take part."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Gives the seat up, so that another one need not wait for the session to end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self._resign()
        if self._cluster is not None:
            await self.before_joining()
            if self._member_id:
                await self._leave()
            await self._cluster.close()

    async def wait_known(self, timeout_s: float) -> bool:
        """Whether a primary is known, or becomes known in time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._known.wait()
        except TimeoutError:
            return False
        return True

    async def _run(self) -> None:
        while True:
            try:
                await self._take_part()
            except OttlaError as error:
                _log.warning("The election can't go on: %s", error)
            self._resign()
            await self.before_joining()
            await asyncio.sleep(_PAUSE_S)

    async def _take_part(self) -> None:
        if self._cluster is None:
            cluster = ClusterClient(self._settings)
            await cluster.start(timeout_ms=self._options.session_timeout_ms)
            self._cluster = cluster
        while True:
            assignment = await self._join()
            if assignment is not None:
                self._take_seat(assignment)
                await self._keep_seat()
                self._resign()
                await self.before_joining()

    async def _join(self) -> Assignment | None:
        """One round of joining and agreeing; None is to try again."""
        options = self._options
        identity = encode_identity(self._identity)
        joined = await self._ask(
            JoinGroupRequest(
                group_id=options.group_id,
                session_timeout_ms=options.session_timeout_ms,
                rebalance_timeout_ms=options.rebalance_timeout_ms,
                member_id=self._member_id,
                protocol_type=options.protocol_type,
                protocols=[JoinGroupRequestProtocol(name=options.protocol, metadata=identity)],
            ),
            JoinGroupResponse,
            timeout_ms=options.rebalance_timeout_ms + 5_000,
        )
        if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self._member_id = joined.member_id
            return None
        if not await self._is_fine(joined.error_code):
            return None
        self._member_id, self._generation = joined.member_id, joined.generation_id
        began = asyncio.get_running_loop().time()
        synced = await self._ask(self._sync(joined), SyncGroupResponse)
        if not await self._is_fine(synced.error_code):
            return None
        self._extend(began)
        return decode_assignment(bytes(synced.assignment))

    def _sync(self, joined: JoinGroupResponse) -> SyncGroupRequest:
        assignments = []
        if joined.leader == joined.member_id:
            members = {each.member_id: decode_identity(bytes(each.metadata)) for each in joined.members}
            told = encode_assignment(assign(members))
            assignments = [SyncGroupRequestAssignment(member_id=each, assignment=told) for each in members]
        return SyncGroupRequest(
            group_id=self._options.group_id,
            generation_id=self._generation,
            member_id=self._member_id,
            protocol_type=self._options.protocol_type,
            protocol_name=self._options.protocol,
            assignments=assignments,
        )

    def _take_seat(self, assignment: Assignment) -> None:
        if assignment.error is AssignmentError.DUPLICATE_URLS:
            _log.error("No primary: two instances have the URL %s, set host.name or host.port", self._identity.url)
        self._is_primary = assignment.primary_id == self._member_id
        self.primary = assignment.primary
        if assignment.primary is None:
            _log.warning("No instance may be the primary: leader.eligibility is false for all of them")
            return
        _log.info("The primary is %s%s", assignment.primary.url, " (this instance)" if self._is_primary else "")
        self._known.set()
        self.on_elected()

    async def _keep_seat(self) -> None:
        """Sends heartbeats until the group is to be joined again."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self._options.heartbeat_interval_ms / 1000)
            sent_at = loop.time()
            request = HeartbeatRequest(
                group_id=self._options.group_id, generation_id=self._generation, member_id=self._member_id
            )
            try:
                response = await self._ask(request, HeartbeatResponse, timeout_ms=self._options.session_timeout_ms)
            except OttlaError as error:
                if loop.time() >= self._lease_until:
                    raise
                _log.info("A heartbeat was lost: %s", error)
                continue
            if response.error_code != ErrorCode.NONE and response.error_code not in _OTHER_COORDINATOR:
                await self._is_fine(response.error_code)
                return
            if await self._is_fine(response.error_code):
                self._extend(sent_at)
            elif loop.time() >= self._lease_until:
                return

    async def _is_fine(self, code: int) -> bool:
        """Whether an answer was no refusal; what a refusal means for the next try is noted."""
        if code == ErrorCode.NONE:
            return True
        if code in _NEW_MEMBER:
            self._member_id, self._generation = "", -1
        elif code in _OTHER_COORDINATOR:
            self._opened().forget_coordinator(CoordinatorKind.GROUP, self._options.group_id)
            await asyncio.sleep(_PAUSE_S)
        elif code not in _JOIN_AGAIN:
            raise error_for(code)
        return False

    def _extend(self, heard_at: float) -> None:
        """The coordinator had not given us up when it heard this."""
        self._lease_until = heard_at + self._options.session_timeout_ms / 1000

    def _resign(self) -> None:
        self._is_primary, self.primary = False, None
        self._known.clear()

    async def _leave(self) -> None:
        member = MemberIdentity(member_id=self._member_id, reason="the instance stops")
        request = LeaveGroupRequest(group_id=self._options.group_id, members=[member])
        try:
            await self._ask(request, LeaveGroupResponse, timeout_ms=_LEAVE_MS)
        except (OttlaError, TimeoutError) as error:
            _log.info("The group could not be left: %s", error)

    async def _ask(self, request: Request, kind: type[_R], timeout_ms: int | None = None) -> _R:
        cluster = self._opened()
        try:
            node = await cluster.coordinator(CoordinatorKind.GROUP, self._options.group_id, timeout_ms=timeout_ms)
            response = await cluster.request(node, request, timeout_ms=timeout_ms, purpose=Purpose.COORDINATOR)
        except OttlaError:
            cluster.forget_coordinator(CoordinatorKind.GROUP, self._options.group_id)
            raise
        assert isinstance(response, kind)
        return response

    def _opened(self) -> ClusterClient:
        assert self._cluster is not None
        return self._cluster


async def _nothing() -> None:
    """The default of `before_joining`."""
