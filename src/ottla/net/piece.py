"""The pieces of an answer: buffers, and stretches of files that leave with `sendfile`."""

from typing import TypeAlias

from ottla.protocol.field import FileRegion, Records

__all__ = ["FileRegion", "Piece"]

Piece: TypeAlias = Records
"""A part of a response frame. Views are of single bytes; buffers must not change before they have left, and regions are
held until then."""
