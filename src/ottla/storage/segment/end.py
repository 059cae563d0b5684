"""The end of a segment, where it is appended to, in the twin that is installed; `end_plain` documents it."""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.storage.segment.end_plain import SegmentEnd
else:
    SegmentEnd = load("ottla.storage.segment._end", "ottla.storage.segment.end_plain").SegmentEnd

__all__ = ["SegmentEnd"]
