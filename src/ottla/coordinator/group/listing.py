"""ListGroups: which groups of a shard pass the caller's filters."""

from collections.abc import Iterable
from typing import NamedTuple, Self

from ottla.coordinator.group.group_machine import GroupMachine
from ottla.coordinator.group.group_state import GroupsState
from ottla.protocol.messages.list_groups import ListedGroup


class GroupFilter(NamedTuple):
    """Names of states and types in lower case; empty ones let everything pass.

    States are trimmed, types are not, and names that nobody knows match nothing: so Kafka does it.
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


def list_shard(machine: GroupMachine, wanted: GroupFilter, state: GroupsState) -> list[ListedGroup]:
    """The groups of a shard that pass."""
    found: list[ListedGroup] = []
    for group_id, group in state.groups.items():
        group_type = group.type.value
        if wanted.types and group_type not in wanted.types:
            continue
        kind = machine.kind(state, group_id)
        if kind is None:
            continue
        listing = kind.listing(state, group_id)
        if wanted.states and listing.state_name.lower() not in wanted.states:
            continue
        found.append(
            ListedGroup(
                group_id=group_id,
                protocol_type=listing.protocol_type,
                group_state=listing.state_name,
                group_type=group_type,
            )
        )
    return found
