"""Checks whether the state of an earlier form of a topology fits the present one.

State, changelogs and offsets are laid out by sub-topology, store and partition. A change that adds or removes any of
these would give records to the wrong store unnoticed, so it is refused, with advice.
"""

import json
from typing import Any

from ottla.streams.errors import StreamsError


class IncompatibleTopologyError(StreamsError):
    """The topology differs from the one whose state is there."""


def check_layout(old: str, new: str) -> None:
    """Raises `IncompatibleTopologyError` with every difference between two texts of `Application.layout`."""
    if old == new:
        return
    before, after = json.loads(old), json.loads(new)
    found = list(_differences(before["stages"], after["stages"]))
    if found:
        raise IncompatibleTopologyError(
            f"the topology does not fit the state that is there: {'; '.join(found)}. Start it as it was, give the "
            f"application another application.id, or reset the application (its local state, its internal topics and "
            f"its checkpoint) to begin anew"
        )


def _differences(old: list[Any], new: list[Any]) -> list[str]:
    found = []
    if len(old) != len(new):
        found.append(f"{len(old)} sub-topologies became {len(new)}")
    for before, after in zip(old, new, strict=False):
        where = f"sub-topology {before['sub-topology']}"
        # Without a store, any partition can go to any task.
        if before["partitions"] != after["partitions"] and (before["stores"] or after["stores"]):
            found.append(f"{where} had {before['partitions']} partitions and has {after['partitions']}")
        stores_before, stores_after = before["stores"], after["stores"]
        found += [f"{where} has lost the store {name}" for name in sorted(stores_before.keys() - stores_after.keys())]
        found += [f"{where} has the new store {name}" for name in sorted(stores_after.keys() - stores_before.keys())]
        for name in sorted(stores_before.keys() & stores_after.keys()):
            if stores_before[name] != stores_after[name]:
                found.append(f"the store {name} was «{stores_before[name]}» and is «{stores_after[name]}»")
        gone = sorted(set(before["topics"]) - set(after["topics"]))
        if gone:
            found.append(f"{where} does not read {', '.join(gone)} any more")
    return found
