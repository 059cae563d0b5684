"""A classic group as it is now: members, who waits for an answer, and where its rebalance stands.

Soft state: made from the stored group when the coordinator loads it or a member comes, and gone with it. It only knows
its own rules (leader, votes, fencing); what follows from a change is for `rebalance`.

Invariants: the leader is a member or there is none; an instance id belongs to one member; only members wait.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from ottla.coordinator.group.assignors.group_spec import Assignment
from ottla.coordinator.group.classic.group import NO_TIMESTAMP_MS, ClassicGroup, ClassicMember
from ottla.coordinator.group.classic.state import PREVIOUS, ClassicState, TransitionError
from ottla.coordinator.group.classic.subscription import CONSUMER_PROTOCOL_TYPE, subscribed_topics
from ottla.coordinator.runtime.coordinator_result import Done
from ottla.protocol.errors import FencedInstanceIdError, UnknownMemberIdError


class LiveGroup:
    """One group's present."""

    __slots__ = (
        "generation",
        "group_id",
        "has_grown",
        "is_storing",
        "is_unwritten",
        "joining",
        "leader",
        "members",
        "new_members",
        "owned_before",
        "pending_members",
        "previous_state",
        "protocol",
        "protocol_type",
        "state",
        "state_timestamp_ms",
        "static_members",
        "subscribed_topics",
        "support",
        "syncing",
        "unsynced",
    )

    def __init__(self, group_id: str, stored: ClassicGroup) -> None:
        self.group_id: Final = group_id
        self.state = ClassicState.STABLE if stored.members else ClassicState.EMPTY
        self.previous_state = ClassicState.DEAD
        self.state_timestamp_ms = stored.state_timestamp_ms
        self.generation = stored.generation
        self.protocol_type = stored.protocol_type
        self.protocol = stored.protocol
        self.leader = stored.leader
        self.members: dict[str, ClassicMember] = {}
        self.static_members: dict[str, str] = {}
        """Instance id → member id."""
        self.support: Counter[str] = Counter()
        """How many members speak each protocol."""
        self.pending_members: set[str] = set()
        """Ids that were handed out and have not come back yet (KIP-394)."""
        self.new_members: set[str] = set()
        """Members whose first join was not answered: they can't send heartbeats."""
        self.joining: dict[str, Done] = {}
        self.syncing: dict[str, Done] = {}
        self.unsynced: set[str] = set()
        """Members of this generation that have not asked for their assignment."""
        self.owned_before: dict[str, Assignment] = {}
        """The assignments that members had in a consumer group, until they join this one."""
        self.has_grown = False
        """Whether a member joined since the initial delay was last checked."""
        self.is_storing = False
        """Whether this generation's assignment was taken and is not committed yet."""
        self.is_unwritten = False
        """Whether the group emptied and the log does not have that yet."""
        for member in stored.members:
            self.add(member)
        self.subscribed_topics = self._subscribed_topics()

    def stored(self) -> ClassicGroup:
        """The group's record."""
        return ClassicGroup(
            generation=self.generation,
            protocol_type=self.protocol_type,
            protocol=self.protocol,
            leader=self.leader,
            state_timestamp_ms=self.state_timestamp_ms,
            members=tuple(self.members.values()),
        )

    @property
    def is_idle(self) -> bool:
        """Whether the stored group says all there is to know."""
        return self.state is ClassicState.EMPTY and not self.pending_members and not self.is_unwritten

    @property
    def has_all_joined(self) -> bool:
        """Whether no member is waited for."""
        return len(self.joining) == len(self.members) and not self.pending_members

    @property
    def is_in_initial_rebalance(self) -> bool:
        """Whether it was empty before and waits for more members than the first."""
        return self.state is ClassicState.PREPARING_REBALANCE and self.previous_state is ClassicState.EMPTY

    @property
    def is_of_consumers(self) -> bool:
        """Whether the members are Kafka's consumers, whose metadata the broker can read."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest that any member asked for."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def transition(self, state: ClassicState, now_ms: int) -> None:
        """Goes to `state`; `TransitionError` if it may not follow the present one."""
        if self.state not in PREVIOUS[state]:
            raise TransitionError(f"Group {self.group_id} can't go from {self.state.value} to {state.value}")
        self.previous_state, self.state = self.state, state
        self.state_timestamp_ms = now_ms

    def add(self, member: ClassicMember) -> None:
        """A new member; the first leads and names the protocol type."""
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        self.members[member.member_id] = member
        self.support.update(name for name, _ in member.protocols)
        self.pending_members.discard(member.member_id)
        if self.leader is None:
            self.leader = member.member_id

    def update(self, member: ClassicMember) -> None:
        """Puts a member in the place of the one with its id."""
        before = self.members[member.member_id]
        self.owned_before.pop(member.member_id, None)
        self.support.subtract(name for name, _ in before.protocols)
        self.support.update(name for name, _ in member.protocols)
        self.members[member.member_id] = member

    def remove(self, member_id: str) -> list[tuple[Done, Any]]:
        """Takes a member or a pending one out; who waits in its name is to be told UNKNOWN_MEMBER_ID."""
        self.pending_members.discard(member_id)
        self.new_members.discard(member_id)
        self.unsynced.discard(member_id)
        member = self.members.pop(member_id, None)
        if member is None:
            return []
        self.support.subtract(name for name, _ in member.protocols)
        if member.instance_id is not None and self.static_members.get(member.instance_id) == member_id:
            del self.static_members[member.instance_id]
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        return self._released(member_id, UnknownMemberIdError())

    def replace(self, old_member_id: str, member: ClassicMember) -> list[tuple[Done, Any]]:
        """A static member is back under another id; who waits under the old one is to be told that it is fenced."""
        was_leader = self.leader == old_member_id
        old = self.members.pop(old_member_id)
        self.support.subtract(name for name, _ in old.protocols)
        self.new_members.discard(old_member_id)
        self.unsynced.discard(old_member_id)
        self.add(member)
        if was_leader:
            self.leader = member.member_id
        return self._released(old_member_id, FencedInstanceIdError())

    def validate_member(self, member_id: str, instance_id: str | None) -> None:
        """Refuses an id that is none of a member, or no longer that of the static member (KIP-345)."""
        if instance_id is not None:
            present = self.static_members.get(instance_id)
            if present is None:
                raise UnknownMemberIdError
            if present != member_id:
                raise FencedInstanceIdError
        if member_id not in self.members:
            raise UnknownMemberIdError

    def supports(self, protocol_type: str, protocols: Iterable[str]) -> bool:
        """Whether a member with these protocols may join: all members must have one protocol in common."""
        names = list(protocols)
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(names)
        return self.protocol_type == protocol_type and any(self.support[name] == len(self.members) for name in names)

    def select_protocol(self) -> str | None:
        """Among those that all members speak the one with the most votes, each for its favourite."""
        size = len(self.members)
        candidates = {name for name, count in self.support.items() if count == size}
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return max(votes, key=votes.__getitem__, default=None)

    def elect_joined_leader(self) -> bool:
        """Makes a member that has joined the leader; False if none has."""
        if self.leader is None:
            return False
        if self.leader in self.joining:
            return True
        joined = next((member_id for member_id in self.members if member_id in self.joining), None)
        if joined is None:
            return False
        self.leader = joined
        return True

    def start_generation(self, now_ms: int) -> None:
        """The next generation, of those who are members now; emptying a group uses one up, too."""
        self.generation += 1
        self.is_storing = False
        self.unsynced.clear()
        self.protocol = self.select_protocol() if self.members else None
        self.subscribed_topics = self._subscribed_topics()
        self.transition(ClassicState.COMPLETING_REBALANCE if self.members else ClassicState.EMPTY, now_ms)

    def is_subscribed(self, topic: str) -> bool:
        """Whether members use a topic; all are in use where a subscription could not be read."""
        return self.is_of_consumers if self.subscribed_topics is None else topic in self.subscribed_topics

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        """From when the retention of an offset counts; None while it does not (KIP-211)."""
        if self.protocol_type is None:
            return commit_timestamp_ms
        if self.state is ClassicState.EMPTY:
            return commit_timestamp_ms if self.state_timestamp_ms == NO_TIMESTAMP_MS else self.state_timestamp_ms
        if self.is_of_consumers and self.subscribed_topics is not None and self.state is ClassicState.STABLE:
            return commit_timestamp_ms
        return None

    def _subscribed_topics(self) -> frozenset[str] | None:
        if not self.is_of_consumers:
            return None
        if not self.members:
            return frozenset()
        protocol = self.protocol
        if protocol is None:
            return None
        return subscribed_topics(self.group_id, (member.metadata(protocol) for member in self.members.values()))

    def _released(self, member_id: str, answer: Any) -> list[tuple[Done, Any]]:
        waiting = (self.joining.pop(member_id, None), self.syncing.pop(member_id, None))
        return [(done, answer) for done in waiting if done is not None]
