"""Members of classic groups, for tests that speak for them."""

from typing import Any

from ottla.protocol.consumer_protocol import ConsumerProtocolSubscription
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ottla.protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberIdentity
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.protocol.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse
from tests.unit.coordinator.group.rig import Rig
from tests.unit.coordinator.runtime.fake import Answers

SESSION_MS = 10_000
REBALANCE_MS = 60_000
DELAY_MS = 3_000


def subscription(*topics: str) -> bytes:
    """What a consumer says of its topics, in v0."""
    return b"\0\0" + ConsumerProtocolSubscription(topics=list(topics)).encode(0)


def protocols(*names: str, metadata: bytes = subscription("t")) -> list[JoinGroupRequestProtocol]:
    """The same metadata for each of these protocols."""
    return [JoinGroupRequestProtocol(name=name, metadata=metadata) for name in names]


def join_request(group_id: str = "g", **fields: Any) -> JoinGroupRequest:
    """A consumer's join."""
    values: dict[str, Any] = {
        "group_id": group_id,
        "session_timeout_ms": SESSION_MS,
        "rebalance_timeout_ms": REBALANCE_MS,
        "protocol_type": "consumer",
        "protocols": protocols("range"),
    }
    return JoinGroupRequest(**values | fields)


def sync_request(
    group_id: str, generation: int, member_id: str, shares: dict[str, bytes] | None = None
) -> SyncGroupRequest:
    """A sync without protocol, as before v5."""
    assignments = [SyncGroupRequestAssignment(member_id=m, assignment=share) for m, share in (shares or {}).items()]
    return SyncGroupRequest(group_id=group_id, generation_id=generation, member_id=member_id, assignments=assignments)


def commit_request(group_id: str, generation: int = -1, member_id: str = "", **fields: Any) -> OffsetCommitRequest:
    """A commit of one offset."""
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=5, committed_metadata="")
    topics = [OffsetCommitRequestTopic(name="t", partitions=[partition])]
    return OffsetCommitRequest(
        group_id=group_id, generation_id_or_member_epoch=generation, member_id=member_id, topics=topics, **fields
    )


class Member:
    """One member that remembers what it was told."""

    def __init__(self, rig: Rig, group_id: str = "g", *, version: int = 9, client: str = "app", **fields: Any) -> None:
        self.rig, self.group_id, self.version, self.client, self.fields = rig, group_id, version, client, fields
        self.id = ""
        self.generation = -1
        self.joined: Answers = Answers()

    def join(self, **fields: Any) -> Answers:
        """Joins, with a second request if an id is required; the answer may come later."""
        self.joined = self._join(**fields)
        if self.joined.given and self.joined.only.error_code == 79:
            self.id = self.joined.only.member_id
            self.joined = self._join(**fields)
        return self.joined

    def _join(self, **fields: Any) -> Answers:
        request = join_request(self.group_id, **{"member_id": self.id} | self.fields | fields)
        return self.rig.send(request, self.version, client=self.client)

    @property
    def join_answer(self) -> JoinGroupResponse:
        """What the last join was answered with; learns from it."""
        answer: JoinGroupResponse = self.joined.only
        if answer.error_code == 0:
            self.id, self.generation = answer.member_id, answer.generation_id
        return answer

    @property
    def is_leader(self) -> bool:
        """Whether it was told to assign."""
        return self.join_answer.leader == self.id

    def sync(self, shares: dict[str, bytes] | None = None) -> Answers:
        """Asks for its share."""
        request = sync_request(self.group_id, self.generation, self.id, shares)
        request.group_instance_id = self.fields.get("group_instance_id")
        return self.rig.send(request, 4)

    def heartbeat(self) -> int:
        """Its error code."""
        request = HeartbeatRequest(group_id=self.group_id, generation_id=self.generation, member_id=self.id)
        request.group_instance_id = self.fields.get("group_instance_id")
        code: int = self.rig.ask(request, 4).error_code
        return code

    def leave(self) -> int:
        """Its error code."""
        identity = MemberIdentity(member_id=self.id, group_instance_id=self.fields.get("group_instance_id"))
        answer: LeaveGroupResponse = self.rig.ask(LeaveGroupRequest(group_id=self.group_id, members=[identity]), 5)
        return answer.error_code or answer.members[0].error_code

    def commit(self) -> int:
        """Its error code."""
        request = commit_request(self.group_id, self.generation, self.id)
        request.group_instance_id = self.fields.get("group_instance_id")
        code: int = self.rig.ask(request, 8).topics[0].partitions[0].error_code
        return code


def settle_group(rig: Rig, *members: Member, delay_ms: int = DELAY_MS) -> dict[str, bytes]:
    """All join a new group and get their shares, which are their ids as bytes."""
    for member in members:
        member.join()
    rig.advance(delay_ms)
    return finish_rebalance(*members)


def finish_rebalance(*members: Member) -> dict[str, bytes]:
    """All have joined: the leader assigns, everybody syncs; what each got."""
    shares = {member.join_answer.member_id: member.id.encode() for member in members}
    answers = {member.id: member.sync(shares if member.is_leader else None) for member in members}
    return {member_id: _share(answer.only) for member_id, answer in answers.items()}


def _share(answer: SyncGroupResponse) -> bytes:
    assert answer.error_code == 0
    return answer.assignment
