"""Ranges of message versions, written as Kafka's people write them: `3`, `3-7`, `3+`."""

from functools import lru_cache
from typing import NamedTuple

OPEN_END = 0x7FFF


class VersionRange(NamedTuple):
    """All versions from `lowest` to `highest`, both included.

    >>> VersionRange.parse("3+").includes(9), VersionRange.parse("3-7").includes(9)
    (True, False)
    """

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> "VersionRange":
        """Reads `3`, `3-7`, `3+` or `none`."""
        return _parse(text)

    def includes(self, version: int) -> bool:
        """Whether `version` lies in the range."""
        return self.lowest <= version <= self.highest

    def __str__(self) -> str:
        if self.lowest > self.highest:
            return "none"
        if self.highest == OPEN_END:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NO_VERSIONS = VersionRange(0, -1)


@lru_cache(maxsize=256)
def _parse(text: str) -> VersionRange:
    if text == "none":
        return NO_VERSIONS
    if text.endswith("+"):
        return VersionRange(int(text[:-1]), OPEN_END)
    lowest, _, highest = text.partition("-")
    return VersionRange(int(lowest), int(highest or lowest))
