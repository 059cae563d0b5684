"""The shared part of all plain decoders of columns: slots, and the loop over rows. `_rows` is the compiled twin.

A record that can't be read leaves nothing behind: all slots are cut back to the row before, and get a null. That needs
no notes, since the length of every slot follows from the offsets of the slot around it.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from ottla.base.buffer import Buffer
from ottla.schema.columns.layout import Code, Filled, Flaw, Kind, Slot


def is_valid(validity: Buffer | None, row: int) -> bool:
    """A row's bit in a bitmap."""
    return validity is None or bool(octets(validity)[row >> 3] >> (row & 7) & 1)


def octets(data: Buffer) -> memoryview:
    """pyarrow's own buffers show signed bytes."""
    return memoryview(data).cast("B")


class BadRecordError(Exception):
    """Ends the reading of one record."""

    def __init__(self, code: int, position: int) -> None:
        super().__init__()
        self.code = code
        self.position = position


class SlotArray:
    """A slot while it is filled."""

    def __init__(self, slot: Slot) -> None:
        self.kind: Final = slot.kind
        self.width: Final = slot.width
        self.children: Final = slot.children
        self.valid: list[bool] = []
        self.values: list[bytes] = []
        self.bits: list[bool] = []
        self.offsets: list[int] = [0]

    def filled(self) -> Filled:
        """Its buffers."""
        rows, nulls = len(self.valid), self.valid.count(False)
        if self.kind is Kind.NOTHING:
            return Filled(rows, rows, None, None, None)
        offsets = data = None
        if self.kind is Kind.BIT:
            data = _packed(self.bits)
        elif self.kind in (Kind.FIXED, Kind.BYTES):
            data = b"".join(self.values)
        if self.kind in (Kind.BYTES, Kind.LIST):
            offsets = struct.pack(f"={rows + 1}i", *self.offsets)
        return Filled(rows, nulls, _packed(self.valid) if nulls else None, offsets, data)


class RowDecoder(ABC):
    """Appends one column of records after another, and then hands out the buffers."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots: Final = tuple(slots)
        self._programs: Final[list[Any]] = []
        self._start()

    def _start(self) -> None:
        self.arrays = [SlotArray(slot) for slot in self._slots]

    def add(self, program: Any) -> int:
        """The number of a program, for `run`."""
        self._programs.append(program)
        return len(self._programs) - 1

    def run(
        self, data: Buffer, offsets: Buffer, validity: Buffer | None, first: int, programs: Buffer, skip: int
    ) -> list[Flaw]:
        """Decodes a row for each of `programs` (int32), from row `first` on; a negative number makes a null.

        `skip` bytes stand before each record. Returns the rows that could not be read, counted from `first`.
        """
        view, ends = octets(data), memoryview(offsets).cast("B").cast("i")
        flaws = []
        for row, number in enumerate(memoryview(programs).cast("B").cast("i")):
            if number < 0 or not is_valid(validity, first + row):
                self.append_null(0)
                continue
            start, end = ends[first + row], ends[first + row + 1]
            before = len(self.arrays[0].valid)
            try:
                if not 0 <= start + skip <= end <= len(view):
                    raise BadRecordError(Code.ENDS_EARLY, 0)
                self.read(self._programs[number], view[start + skip : end])
            except BadRecordError as error:
                self.truncate(0, before)
                self.append_null(0)
                flaws.append(Flaw(row, error.code, error.position))
        return flaws

    @abstractmethod
    def read(self, program: Any, data: memoryview) -> None:
        """Appends one record to the slots. Raises `BadRecordError`."""

    def finish(self) -> list[Filled]:
        """The buffers of each slot; the decoder is empty again."""
        filled = [array.filled() for array in self.arrays]
        self._start()
        return filled

    def append_null(self, number: int) -> None:
        """A null, with nulls in its parts."""
        array = self.arrays[number]
        array.valid.append(False)
        if array.kind is Kind.BIT:
            array.bits.append(False)
        elif array.kind is Kind.FIXED:
            array.values.append(bytes(array.width))
        elif array.kind is Kind.BYTES:
            array.values.append(b"")
            array.offsets.append(array.offsets[-1])
        elif array.kind is Kind.LIST:
            array.offsets.append(array.offsets[-1])
        else:
            for child in array.children:
                self.append_null(child)

    def truncate(self, number: int, rows: int) -> None:
        """Back to so many rows, with the parts."""
        array = self.arrays[number]
        del array.valid[rows:], array.bits[rows:], array.values[rows:], array.offsets[rows + 1 :]
        for child in array.children:
            self.truncate(child, array.offsets[rows] if array.kind is Kind.LIST else rows)


def _packed(bits: Sequence[bool]) -> bytes:
    packed = bytearray((len(bits) + 7) // 8)
    for row, bit in enumerate(bits):
        packed[row >> 3] |= bit << (row & 7)
    return bytes(packed)
