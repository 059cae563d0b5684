"""A member of the classic protocol, eager or cooperative: join, sync, heartbeats; its leader assigns for all."""

import struct
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from ottla.coordinator.group.consumer.migration.embedded import read_assignment, read_subscription
from ottla.coordinator.ports import PartitionKey
from ottla.protocol.consumer_protocol import (
    AssignedTopicPartition,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedTopicPartition,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from ottla.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from ottla.testing.simulation.coordinator.history import SyncAnswer
from ottla.testing.simulation.coordinator.scenario import GroupPlan
from ottla.testing.simulation.coordinator.workload.member import (
    COORDINATOR_ELSEWHERE,
    HEARTBEAT_MS,
    REBALANCE_TIMEOUT_MS,
    RETRY_MS,
    SESSION_TIMEOUT_MS,
    ClientOutside,
    Identity,
    Membership,
)
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

Style = Literal["eager", "cooperative"]

_JOIN_VERSION: Final = 9
_SYNC_VERSION: Final = 5
_HEARTBEAT_VERSION: Final = 4
_LEAVE_VERSION: Final = 5
_SUBSCRIPTION_VERSION: Final = 3
_JOIN_TIMEOUT_MS: Final = 2 * REBALANCE_TIMEOUT_MS
_FENCED_MS: Final = 1000
_NO_GENERATION: Final = -1


class ClassicMember(Membership):
    """`member_id` is given by the coordinator, and kept until it says that it does not know it."""

    def __init__(self, plan: GroupPlan, instance_id: str | None, outside: ClientOutside, style: Style) -> None:
        super().__init__(plan, instance_id, outside)
        self.member_id = ""
        self.generation = _NO_GENERATION
        self.style: Final = style
        self._needs_join = True
        self._is_lost = False
        self._is_joining = False
        self._assigned_from: list[PartitionKey] | None = None
        """Of a leader: the partitions that there were when it assigned them."""

    @property
    def identity(self) -> Identity | None:
        """Its member id and generation; None while it joins and after it was fenced."""
        if self.generation == _NO_GENERATION or self._is_lost or self._is_joining:
            return None
        return Identity(self.member_id, self.generation, self.instance_id)

    def poll(self) -> Steps[None]:
        """Joins the group, if anything calls for it, until it has an assignment."""
        if self._is_lost:
            self._is_lost = False
            self.own(set())
        if self._assigned_from not in (None, self.outside.partitions(self.plan.topics)):
            self._needs_join = True
        while self._needs_join and not self.is_stopping:
            self._is_joining = True
            self._needs_join = False
            if not (yield from self._join()):
                self._needs_join = True
                yield Sleep(RETRY_MS)
        self._is_joining = False

    def keep_alive(self) -> Steps[None]:
        """Sends heartbeats, except while it joins."""
        while True:
            yield Sleep(HEARTBEAT_MS)
            identity = self.identity
            if identity is None:
                continue
            request = HeartbeatRequest(
                group_id=self.plan.group_id,
                generation_id=identity.generation,
                member_id=identity.member_id,
                group_instance_id=identity.instance_id,
            )
            response = yield from self.ask_coordinator(Ask(0, request, _HEARTBEAT_VERSION))
            if isinstance(response, HeartbeatResponse) and self.identity == identity:
                self.refused(response.error_code)

    def leave(self) -> Steps[None]:
        """Leaves the group; a static member does not say so."""
        if self.instance_id is None and self.member_id:
            members = [MemberIdentity(member_id=self.member_id)]
            request = LeaveGroupRequest(group_id=self.plan.group_id, members=members)
            yield from self.ask_coordinator(Ask(0, request, _LEAVE_VERSION))

    def refused(self, code: int) -> None:
        """Handles the error of a heartbeat or of a commit."""
        if code == ErrorCode.REBALANCE_IN_PROGRESS:
            self._needs_join = True
        elif code in (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self._lose(code)

    def _lose(self, code: int) -> None:
        """Gives up its membership: by now other members own its partitions."""
        self._is_lost = self._needs_join = True
        if code != ErrorCode.ILLEGAL_GENERATION:
            self.member_id = ""

    def _join(self) -> Steps[bool]:
        if self.style == "eager":
            self.own(set())
        request = JoinGroupRequest(
            group_id=self.plan.group_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=self.style, metadata=self._subscription())],
        )
        response = yield from self.ask_coordinator(Ask(0, request, _JOIN_VERSION, _JOIN_TIMEOUT_MS))
        if not isinstance(response, JoinGroupResponse):
            return False
        if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.member_id = response.member_id
            return (yield from self._join())
        if response.error_code:
            yield from self._join_refused(response.error_code)
            return False
        self.member_id, self.generation = response.member_id, response.generation_id
        return (yield from self._sync(response))

    def _join_refused(self, code: int) -> Steps[None]:
        if code in COORDINATOR_ELSEWHERE or code == ErrorCode.REBALANCE_IN_PROGRESS:
            return
        self.generation = _NO_GENERATION
        self.own(set())
        if code in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID):
            self.member_id = ""
        # Another process has the name, or the group speaks another protocol at the moment.
        if code != ErrorCode.UNKNOWN_MEMBER_ID:
            yield Sleep(_FENCED_MS)

    def _sync(self, joined: JoinGroupResponse) -> Steps[bool]:
        is_leader = joined.leader == joined.member_id
        self._assigned_from = self.outside.partitions(self.plan.topics) if is_leader else None
        if joined.skip_assignment:
            # Topics may have grown since it assigned them in an earlier life; it has to look, Kafka's own does not.
            self._assigned_from = []
        request = SyncGroupRequest(
            group_id=self.plan.group_id,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocol_name=self.style,
            assignments=self._assignments(joined.members) if is_leader and not joined.skip_assignment else [],
        )
        response = yield from self.ask_coordinator(Ask(0, request, _SYNC_VERSION, _JOIN_TIMEOUT_MS))
        if not isinstance(response, SyncGroupResponse):
            return False
        if response.error_code:
            self._is_lost = False
            yield from self._join_refused(response.error_code)
            return False
        self._assigned(_partitions(read_assignment(response.assignment)))
        return True

    def _assigned(self, assigned: set[PartitionKey]) -> None:
        owner = self.instance_id or self.member_id
        answer = SyncAnswer(self.plan.group_id, self.generation, owner, self.member_id, frozenset(assigned))
        self.outside.history.sync_answers.append(answer)
        if self.style == "cooperative" and self.owned - assigned:
            # What was given up can be given to others only when everybody knows: in the next generation (KIP-429).
            self._needs_join = True
        self._is_lost = False
        self.own(assigned)

    def _subscription(self) -> bytes:
        subscription = ConsumerProtocolSubscription(
            topics=list(self.plan.topics),
            owned_partitions=[
                OwnedTopicPartition(topic=topic, partitions=indexes) for topic, indexes in _by_topic(self.owned)
            ],
            generation_id=self.generation,
        )
        return struct.pack(">h", _SUBSCRIPTION_VERSION) + subscription.encode(_SUBSCRIPTION_VERSION)

    def _assignments(self, members: Sequence[JoinGroupResponseMember]) -> list[SyncGroupRequestAssignment]:
        """Everybody's share; a cooperative leader gives nothing away that another member still has."""
        shares: dict[str, set[PartitionKey]] = {member.member_id: set() for member in members}
        ids = sorted(shares)
        for number, key in enumerate(self.outside.partitions(self.plan.topics)):
            shares[ids[number % len(ids)]].add(key)
        if self.style == "cooperative":
            owners = _owners(members)
            for member_id, share in shares.items():
                share -= {key for key in share if owners.get(key, member_id) != member_id}
        return [
            SyncGroupRequestAssignment(member_id=member_id, assignment=_assignment(share))
            for member_id, share in shares.items()
        ]


def _owners(members: Sequence[JoinGroupResponseMember]) -> dict[PartitionKey, str]:
    """The owner of each partition, as members claim it; the claim of the newer generation wins (KIP-792)."""
    owners: dict[PartitionKey, tuple[int, str]] = {}
    for member in sorted(members, key=lambda member: member.member_id):
        subscription = read_subscription(member.metadata)
        for claim in subscription.owned_partitions:
            for index in claim.partitions:
                key = PartitionKey(claim.topic, index)
                if key not in owners or owners[key][0] < subscription.generation_id:
                    owners[key] = (subscription.generation_id, member.member_id)
    return {key: member_id for key, (_, member_id) in owners.items()}


def _by_topic(keys: Iterable[PartitionKey]) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for key in sorted(keys):
        topics.setdefault(key.topic, []).append(key.partition)
    return list(topics.items())


def _assignment(keys: Iterable[PartitionKey]) -> bytes:
    assigned = [AssignedTopicPartition(topic=topic, partitions=indexes) for topic, indexes in _by_topic(keys)]
    message = ConsumerProtocolAssignment(assigned_partitions=assigned)
    return struct.pack(">h", _SUBSCRIPTION_VERSION) + message.encode(_SUBSCRIPTION_VERSION)


def _partitions(assignment: ConsumerProtocolAssignment) -> set[PartitionKey]:
    return {
        PartitionKey(assigned.topic, index)
        for assigned in assignment.assigned_partitions
        for index in assigned.partitions
    }
