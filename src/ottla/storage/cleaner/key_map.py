"""The dedupe map, by whichever twin is installed; `key_map_plain` documents it."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load
from ottla.storage.cleaner.key_map_plain import ENTRY_BYTES, SEED_BYTES, Run, Selection

if TYPE_CHECKING:
    from ottla.storage.cleaner.key_map_plain import KeyMap, rewrite
else:
    _twin = load("ottla.storage.cleaner._key_map", "ottla.storage.cleaner.key_map_plain")
    KeyMap = _twin.KeyMap
    rewrite = _twin.rewrite

__all__ = ["ENTRY_BYTES", "SEED_BYTES", "KeyMap", "Run", "Selection", "rewrite"]
