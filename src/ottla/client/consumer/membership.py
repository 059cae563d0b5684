"""Between a consumer and its membership in a group: what each asks of the other.

Neither side imports the other. A membership runs in the event loop in the background, whether or not the user polls;
partitions come and go only through `RebalanceHost`, whose coroutines finish when the user's next call has done it:
positions may be committed only when the user is done with what the last poll returned.
"""

from enum import Enum
from typing import Protocol

from ottla.base.frozen import frozen
from ottla.client.consumer.subscription_state import SubscriptionState
from ottla.client.errors import ClientError
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ApiError


@frozen
class GroupMetadata:
    """A consumer's identity in its group; a transactional producer sends it along with the consumer's offsets."""

    group_id: str
    generation_id: int = -1
    """The classic group's generation, or the member epoch of a KIP-848 group."""
    member_id: str = ""
    group_instance_id: str | None = None


class LeaveOperation(Enum):
    """Whether the member leaves the group at close (KIP-1092); by default only dynamic members do."""

    DEFAULT = "default"
    LEAVE_GROUP = "leave group"
    REMAIN_IN_GROUP = "remain in group"


class ListenerError(ClientError):
    """A rebalance listener raised: the cause is what it raised, and the rebalance went on."""


class RebalanceHost(Protocol):
    """The consumer's side of a membership, in the event loop."""

    subscription: SubscriptionState

    async def revoke(self, partitions: frozenset[TopicPartition]) -> None:
        """Commits positions if that is automatic, tells the listener, then takes the partitions away."""

    async def lose(self, partitions: frozenset[TopicPartition]) -> None:
        """As `revoke`, for partitions that other members may have already: nothing is committed."""

    async def assign(self, partitions: frozenset[TopicPartition], added: frozenset[TopicPartition]) -> None:
        """Makes `partitions` the whole assignment and tells the listener what was added."""

    def stop_delivery(self, partitions: frozenset[TopicPartition]) -> None:
        """These are about to be revoked: no more records of theirs are handed out."""

    def attention_needed(self) -> None:
        """The user's poll has to look after the membership: call it when `needs_attention` becomes true."""


class GroupMembership(Protocol):
    """The interface of a membership to its consumer."""

    needs_attention: bool
    """Read by the user's thread at each poll: the membership is not stable, or has an error to raise."""

    def start(self) -> None:
        """Begins to join in the background."""

    def subscription_changed(self) -> None:
        """The subscribed topics changed, or their partitions did."""

    def polled(self) -> None:
        """The user polled; from any thread. `max.poll.interval.ms` counts from here."""

    async def ensure_active(self, deadline_s: float) -> None:
        """Returns when the membership is stable, or at the deadline; raises what ended it."""

    def metadata(self) -> GroupMetadata:
        """The present identity in the group."""

    def rejoin_needed(self, error: ApiError) -> None:
        """The coordinator refused a commit because it does not know us as we are."""

    def enforce_rebalance(self, reason: str) -> None:
        """Joins again, which lets all members rebalance."""

    async def refresh_epoch(self) -> bool:
        """A commit was refused: asks by a heartbeat; whether we are a member, so that it may be repeated."""

    async def leave(self, deadline_s: float, operation: LeaveOperation) -> None:
        """Ends the membership and everything that runs for it."""
