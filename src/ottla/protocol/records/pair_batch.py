"""Batches of keys and values, by whichever twin is installed; `pair_batch_plain` documents them."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.protocol.records import pair_batch_plain as _twin
else:
    _twin = load("ottla.protocol.records._pair_batch", "ottla.protocol.records.pair_batch_plain")

write_pairs = _twin.write_pairs
