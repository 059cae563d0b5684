"""Looks through the groups of a shard for offsets that expired, some at a time, and for groups that nothing keeps.

A look goes over the offsets as they were when it began, and decides by what they are when their turn comes: two million
offsets never hold up the loop, and one that was committed anew meanwhile stays. What is not written for some reason is
found by the next look.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.group_kind import GroupKind
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.offsets.expiry import OffsetStretch, expire, is_bare
from ottla.protocol.coordinator_record import CoordinatorRecord

SLICE_OFFSETS: Final = 2_000
"""How many offsets and groups one call looks at, and at most one stretch more."""
SLICE_RECORDS: Final = 200
"""After how many tombstones it ends; they cost more than a look."""
STRETCH_PARTITIONS: Final = 200

_SPREAD: Final = 618_034
"""Of a million: the golden ratio's multiples, whatever their number, are nowhere close to each other."""


class GroupExpiry:
    """One look after the other, of one shard."""

    def __init__(
        self, config: GroupConfig, partition: int, kind: Callable[[GroupsState, str], GroupKind | None]
    ) -> None:
        """`kind` is the code for a group, None if there is no such group."""
        self._retention_ms: Final = config.offsets_retention_ms
        self._interval_ms: Final = config.offsets_retention_check_interval_ms
        self._partition: Final = partition
        self._kind: Final = kind
        self._stretches: Iterator[OffsetStretch] | None = None

    @property
    def first_in_ms(self) -> int:
        """The time from the load to the first look, which differs between shards that are loaded together."""
        return self._interval_ms - self._interval_ms * (self._partition * _SPREAD % 1_000_000) // 1_000_000

    @property
    def next_in_ms(self) -> int:
        """The time from a call to the next."""
        return self._interval_ms if self._stretches is None else 1

    def expired(self, state: GroupsState, now_ms: int) -> list[CoordinatorRecord]:
        """The tombstones of what expired in the next slice of the look; begins one if there is none."""
        if self._stretches is None:
            self._stretches = _stretches(state)
        records: list[CoordinatorRecord] = []
        looked_at = 0
        group_id, group_records = "", 0
        for stretch in self._stretches:
            if stretch.group_id != group_id:
                group_id, group_records = stretch.group_id, 0
            looked_at += 1 + len(stretch.partitions)
            found = self._of_stretch(state, stretch, group_records, now_ms)
            group_records += len(found)
            records += found
            if looked_at >= SLICE_OFFSETS or len(records) >= SLICE_RECORDS:
                break
        else:
            self._stretches = None
        return records

    def _of_stretch(
        self, state: GroupsState, stretch: OffsetStretch, expired: int, now_ms: int
    ) -> list[CoordinatorRecord]:
        """`expired` of the group's offsets have their tombstones in the same slice."""
        group_id = stretch.group_id
        kind = self._kind(state, group_id)
        if kind is None:
            return []
        if stretch.partitions:
            rules = kind.rules(state, group_id)
            return expire(state.offsets, stretch, rules, now_ms, retention_ms=self._retention_ms)
        if is_bare(state.offsets, group_id, expired=expired) and kind.is_empty(state, group_id):
            return list(kind.deletion(state, group_id))
        return []


def _stretches(state: GroupsState) -> Iterator[OffsetStretch]:
    """All offsets of all groups; each group ends with a stretch of no partitions."""
    for group_id in sorted(state.groups):
        for topic, stored in sorted(state.offsets.committed.get(group_id, {}).items()):
            partitions = iter(stored)
            while some := tuple(islice(partitions, STRETCH_PARTITIONS)):
                yield OffsetStretch(group_id, topic, some)
        yield OffsetStretch(group_id, "", ())
