"""ListGroups: which groups pass the caller's filters, some at a time.

A list is of the groups that were there when it began: thirty thousand of them don't hold up the loop, and none is
missing or twice because others came or went meanwhile. In what state a group is may be newer than that.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple, Self

from ottla.coordinator.group.group_machine import GroupMachine
from ottla.coordinator.group.group_state import Group, GroupsState
from ottla.protocol.messages.list_groups import ListedGroup

PAGE_GROUPS: Final = 500
"""How many groups are looked at for one page."""


class GroupFilter(NamedTuple):
    """Names of states and types in lower case; empty ones let everything pass.

    States are trimmed, types are not, and unknown names match nothing, as in Kafka.
    """

    states: frozenset[str]
    types: frozenset[str]

    @classmethod
    def parse(cls, states: Iterable[str], types: Iterable[str]) -> Self:
        """The filters of a request.

        >>> GroupFilter.parse([" Stable"], ["Classic"])
        GroupFilter(states=frozenset({'stable'}), types=frozenset({'classic'}))
        """
        return cls(frozenset(name.strip().lower() for name in states), frozenset(name.lower() for name in types))


class ShardLook(NamedTuple):
    """The groups of a shard at a moment, and the code for them."""

    machine: GroupMachine
    state: GroupsState


def list_in_pages(looks: Iterable[ShardLook], wanted: GroupFilter) -> Iterator[list[ListedGroup]]:
    """The groups of the shards that pass, once each, however the shards go on between two pages."""
    for machine, state in looks:
        groups = iter(state.groups.items())
        while page := list(islice(groups, PAGE_GROUPS)):
            yield [listed for found in page if (listed := _listed(machine, state, wanted, *found)) is not None]


def _listed(
    machine: GroupMachine, state: GroupsState, wanted: GroupFilter, group_id: str, group: Group
) -> ListedGroup | None:
    group_type = group.type.value
    if wanted.types and group_type not in wanted.types:
        return None
    kind = machine.kind(state, group_id)
    if kind is None:
        return None
    listing = kind.listing(state, group_id)
    if wanted.states and listing.state_name.lower() not in wanted.states:
        return None
    return ListedGroup(
        group_id=group_id,
        protocol_type=listing.protocol_type,
        group_state=listing.state_name,
        group_type=group_type,
    )
