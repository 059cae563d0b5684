"""Bytes that are not a message, and values that cannot become one.

Both errors say where: the path of the field (`topics[2].partitions[0].index`) and, for bytes, the position.
"""

from ottla.base.errors import OttlaError


class DecodeError(OttlaError):
    """The bytes are not what they should be.

    `path` names the field, `position` the byte at which reading it failed.
    """

    def __init__(self, reason: str, path: str = "", position: int | None = None) -> None:
        super().__init__(reason, path, position)
        self.reason = reason
        self.path = path
        self.position = position

    def inside(self, step: str) -> "DecodeError":
        """The error as the level above reports it: `step` goes before the path."""
        self.path = step + self.path
        self.args = (self.reason, self.path, self.position)
        return self

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        at = "" if self.position is None else f" (at byte {self.position})"
        return f"{where}{self.reason}{at}"


class EncodeError(OttlaError):
    """A value does not fit its field, or the chosen version cannot carry it."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason, path)
        self.reason = reason
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}" if self.path else self.reason
