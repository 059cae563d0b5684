"""Events of a classic member, beside the common ones (`group.event`)."""

from collections.abc import Mapping, Sequence

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.consumer.group.event import MemberEvent
from ottla.protocol.messages.join_group import JoinGroupResponse
from ottla.protocol.messages.sync_group import SyncGroupResponse

TopicSnapshot = Mapping[str, Sequence[frozenset[str]]]
"""The topics that an assignment was made for: the racks of every partition's replicas."""


@frozen
class Generation:
    """One rebalance of the group as this member took part in it; `id` is -1 if it is in none."""

    id: int = -1
    member_id: str = ""
    protocol: str | None = None


@frozen
class RebalanceEnforced:
    """The user asked for a rebalance."""

    reason: str


@frozen
class MetadataChanged:
    """The topics of the group look like this now."""

    snapshot: TopicSnapshot


@frozen
class JoinAnswered:
    """JoinGroup was answered."""

    response: JoinGroupResponse


@frozen
class AssignmentComputed:
    """Our assignor has decided; `snapshot` is what it decided on."""

    assignments: Mapping[str, bytes]
    snapshot: TopicSnapshot


@frozen
class AssignmentFailed:
    """Our assignor raised."""

    error: OttlaError


@frozen
class SyncAnswered:
    """SyncGroup was answered."""

    response: SyncGroupResponse


@frozen
class CoordinatorUnreachable:
    """JoinGroup or SyncGroup could not be sent, or was not answered."""

    error: OttlaError


@frozen
class PauseEnded:
    """The pause before the next attempt is over."""


@frozen
class HeartbeatAnswered:
    """The coordinator answered a heartbeat of `generation`."""

    generation: Generation
    error_code: int


@frozen
class HeartbeatFailed:
    """A heartbeat was not answered."""


ClassicEvent = (
    MemberEvent
    | RebalanceEnforced
    | MetadataChanged
    | JoinAnswered
    | AssignmentComputed
    | AssignmentFailed
    | SyncAnswered
    | CoordinatorUnreachable
    | PauseEnded
    | HeartbeatAnswered
    | HeartbeatFailed
)
