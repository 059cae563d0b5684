"""Reads a request as forgivingly as Apache Kafka does, because clients that err there work today.

Tolerated: any negative length as null where null may stand, broken UTF-8 (replaced by U+FFFD, so that the name is then
refused with the right code), tags repeated or out of order (the last one counts), tagged fields whose size is wrong.
Still an error: null where it can't stand, lengths past the end, varints longer than five bytes, and more elements
than a request of its kind may have.
"""

from typing import Final

from ottla.base.buffer import Buffer
from ottla.protocol.codec.plan import FieldPlan
from ottla.protocol.codec.reader import Reader

ELEMENTS_MAX: Final = 1_000_000
"""The most elements of all arrays and tags of a request together, unless the caller gives a lower limit.

Kafka has no such limit: 50 MB of empty names keep one of its threads busy for half a minute, and would keep us.
"""


class TolerantReader(Reader):
    """Reads what Kafka's own reader would read."""

    def __init__(self, buffer: Buffer, position: int, elements_max: int = ELEMENTS_MAX) -> None:
        super().__init__(buffer, position)
        self._elements_max = self._elements_left = elements_max

    def _spend(self, count: int) -> None:
        self._elements_left -= max(count, 0)
        if self._elements_left < 0:
            self._fail(f"more than {self._elements_max} elements")

    def _means_null(self, length: int) -> bool:
        return length < 0

    def _text(self, raw: memoryview) -> str:
        return str(raw, "utf-8", "replace")

    def _checked_uvarint(self, value: int, start: int) -> int:
        # Java keeps the low 32 bits and takes them as signed.
        value &= 0xFFFFFFFF
        return value - (1 << 32) if value > 0x7FFFFFFF else value

    def _take(self, length: int) -> memoryview:
        if length < 0:
            self._fail(f"negative length {length}")
        return super()._take(length)

    def _check_tag_order(self, tag: int, last: int) -> None:
        pass

    def _wrong_tag_size(self, planned: FieldPlan, start: int, size: int) -> None:
        pass
