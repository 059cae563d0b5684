"""The interface of a group's rules for its offsets; the kinds of groups implement it."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from ottla.base.ids import Uuid


class CommitClaim(NamedTuple):
    """The committer of offsets: with a generation in classic groups, a member epoch in consumer groups."""

    member_id: str
    instance_id: str | None
    generation_or_epoch: int
    is_transactional: bool
    api_version: int


PartitionCheck: TypeAlias = Callable[[str, Uuid, int], None]
"""Refuses a single partition by its topic's name and id and its index, with an `ApiError` (KIP-1251).

A member of a consumer group whose epoch is old may still commit for a partition that it has owned since before.
"""


class OffsetRules(Protocol):
    """One group's present rules for its offsets."""

    def validate_commit(self, claim: CommitClaim, now_ms: int) -> PartitionCheck | None:
        """Refuses with an `ApiError`; else how each partition is to be checked, None if they need no check.

        A commit of a classic member keeps its session alive, as a heartbeat does.
        """
        ...

    def validate_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Refuses a fetch whose member id and epoch are not the group's."""
        ...

    def validate_delete(self) -> None:
        """Refuses to delete any offset: the group is in use, and by which topics is unknown."""
        ...

    def is_subscribed(self, topic: str) -> bool:
        """Whether members use the topic: then its offsets neither expire nor may be deleted."""
        ...

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        """The time from which an offset's retention is counted; None if it can't expire now (KIP-211)."""
        ...
