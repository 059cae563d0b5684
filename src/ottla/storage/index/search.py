"""The searches that every read does, by whichever twin is installed; `search_plain` documents them."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.storage.index import search_plain as _twin
else:
    _twin = load("ottla.storage.index._search", "ottla.storage.index.search_plain")

floor_slot_int32 = _twin.floor_slot_int32
floor_entry = _twin.floor_entry
floor_slot_timestamp = _twin.floor_slot_timestamp
find_batch = _twin.find_batch
