"""Effects of a classic member, beside the common ones (`group.effect`)."""

from collections.abc import Mapping

from ottla.base.frozen import frozen
from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.client.consumer.group.classic.event import Generation
from ottla.client.consumer.group.effect import AdoptAssignment, MemberEffect, ReleasePartitions
from ottla.protocol.messages.heartbeat import HeartbeatRequest
from ottla.protocol.messages.join_group import JoinGroupRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest


@frozen
class SendJoin:
    """Step: ends in JoinAnswered or CoordinatorUnreachable."""

    request: JoinGroupRequest


@frozen
class ComputeAssignment:
    """Step of the leader: ends in AssignmentComputed or AssignmentFailed.

    With `keeps_assignment` (KIP-814) the broker knows the assignment already, and only the snapshot is needed.
    """

    protocol: str
    members: Mapping[str, MemberSubscription]
    keeps_assignment: bool


@frozen
class SendSync:
    """Step: ends in SyncAnswered or CoordinatorUnreachable."""

    request: SyncGroupRequest


@frozen
class Pause:
    """Step: wait before the attempt after `failures` that failed. Ends in PauseEnded."""

    failures: int


@frozen
class SendHeartbeat:
    """Beside the steps: ends in HeartbeatAnswered or HeartbeatFailed."""

    generation: Generation
    request: HeartbeatRequest


@frozen
class SendLeave:
    """Sent beside the steps; nothing waits for the answer."""

    member_id: str
    reason: str


@frozen
class TellAssignor:
    """The assignor `protocol` learns what this member was assigned, before the user does."""

    protocol: str
    assignment: MemberAssignment
    generation_id: int


Step = ReleasePartitions | SendJoin | ComputeAssignment | SendSync | AdoptAssignment | Pause
ClassicEffect = (
    MemberEffect | SendJoin | ComputeAssignment | SendSync | Pause | SendHeartbeat | SendLeave | TellAssignor
)
