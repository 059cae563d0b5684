"""From which offset on a log's segments follow each other without a gap, whatever the topic's settings are by now.

Appending leaves no gap between two segments; cleaning does. A segment that ends before the next one begins was cleaned,
or a power cut took its end. The difference decides whether recovery keeps the later segments, so it is written down: an
empty file `contiguous-from-<offset>.deleted` in the log's directory. It is there before the first record is, and the
offset rises, for good, before cleaned segments take the place of others. Without the file nothing is claimed, and every
gap passes.

The name is all there is to it, so a rename changes it at once. Apache Kafka removes files of this suffix when it opens
a log, and with it a claim that its own cleaning would make untrue.
"""

from collections.abc import Iterable
from typing import Final

from ottla.storage.disk.port import Access, Disk

_PREFIX: Final = "contiguous-from-"
_SUFFIX: Final = ".deleted"


class Contiguity:
    """The claim about one log. Changes are on the disk after the next flush of its directory."""

    __slots__ = ("_disk", "directory", "offset")

    def __init__(self, disk: Disk, directory: str, names: Iterable[str]) -> None:
        self._disk = disk
        self.directory = directory
        self.offset = max(map(_offset_of, names), default=-1)
        """Segments with a higher base offset begin where the one before ends; -1 if nothing is claimed."""

    def holds_at(self, base_offset: int) -> bool:
        """Whether the segment before this one reached up to it."""
        return 0 <= self.offset < base_offset

    def is_as_appended(self, base_offset: int) -> bool:
        """Whether the segment itself was never cleaned."""
        return 0 <= self.offset <= base_offset

    def begin(self, offset: int) -> None:
        """Makes the claim from an offset on, unless there is one already."""
        if self.offset < 0:
            self._disk.open(self._path(offset), Access.CREATE)
            self.offset = offset

    def raise_to(self, offset: int) -> bool:
        """Gaps may come about below the offset; answers whether that is new, and the directory has to be flushed."""
        if not 0 <= self.offset < offset:
            return False
        self._move(offset)
        return True

    def lower_to(self, offset: int) -> None:
        """The log was cut here: what comes is appended."""
        if self.offset > offset:
            self._move(offset)

    def _move(self, offset: int) -> None:
        self._disk.rename(self._path(self.offset), self._path(offset))
        self.offset = offset

    def _path(self, offset: int) -> str:
        return f"{self.directory}/{_PREFIX}{offset:020d}{_SUFFIX}"


def _offset_of(name: str) -> int:
    digits = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    is_claim = name == f"{_PREFIX}{digits}{_SUFFIX}" and digits.isascii() and digits.isdecimal()
    return int(digits) if is_claim else -1
