"""From filled slots to Arrow arrays, and from Arrow's binary columns to the buffers that a decoder reads."""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

from ottla.schema.columns.layout import Filled, Flaw, Slot, message

_CONVERTED: Final = (
    pa.types.is_null,
    pa.types.is_large_binary,
    pa.types.is_large_string,
    pa.types.is_binary_view,
    pa.types.is_fixed_size_binary,
)


class ColumnShape(Protocol):
    """The slot and the Arrow type of the values of one type, and its parts."""

    @property
    def slot(self) -> int:
        """The number of its slot."""

    @property
    def type(self) -> Any:
        """Its Arrow type."""

    @property
    def parts(self) -> "Sequence[ColumnShape]":
        """The shapes of a struct's fields, a list's items, or a map's keys and values."""


def assembled(shape: ColumnShape, slots: Sequence[Slot], filled: Sequence[Filled]) -> Any:
    """The array of a shape."""
    own = filled[shape.slot]
    if pa.types.is_null(shape.type):
        return pa.nulls(own.rows)
    buffers = [_buffer(own.validity)]
    if own.offsets is not None:
        buffers.append(_buffer(own.offsets))
    if own.data is not None:
        buffers.append(_buffer(own.data))
    parts = [assembled(part, slots, filled) for part in shape.parts]
    if pa.types.is_map(shape.type):
        entries = pa.struct([pa.field("key", shape.type.key_type, nullable=False), shape.type.item_field])
        rows = filled[slots[shape.slot].children[0]].rows
        parts = [pa.Array.from_buffers(entries, rows, [None], 0, children=parts)]
    return pa.Array.from_buffers(shape.type, own.rows, buffers, own.nulls, children=parts)


class Decoder(Protocol):
    """The loop over rows, of either twin."""

    def run(self, data: Any, offsets: Any, validity: Any, first: int, programs: Any, skip: int) -> list[Flaw]:
        """Appends rows, and tells which could not be read."""

    def finish(self) -> list[Filled]:
        """The buffers of each slot."""


class Shapes(Protocol):
    """A reader's schema, laid out."""

    @property
    def root(self) -> ColumnShape:
        """The shape of a row."""

    @property
    def slots(self) -> Sequence[Slot]:
        """All slots."""


class Reasons(Protocol):
    """A program, which has sentences of its own for why a record is bad."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """By number."""


def decoded(
    decoder: Decoder, shapes: Shapes, known: Sequence[Reasons], rows: tuple[Any, Any, int]
) -> tuple[Any, dict[int, str]]:
    """The array of a column of records, and why rows could not be read.

    `rows` are the records, the number of a program for each (int32), and how many bytes stand before records.
    """
    records, programs, skip = rows
    data, offsets, validity = binary_buffers(records)
    raw = programs.buffers()[1]
    numbers = memoryview(b"" if raw is None else raw)[: 4 * len(records)]
    found = decoder.run(data, offsets, validity, records.offset, numbers, skip)
    array = assembled(shapes.root, shapes.slots, decoder.finish())
    chosen = memoryview(numbers).cast("B").cast("i")
    flaws = {
        flaw.row: f"{message(known[chosen[flaw.row]].reasons, flaw.code)}, at byte {flaw.position}" for flaw in found
    }
    return array, flaws


def _buffer(data: object | None) -> Any:
    return None if data is None else pa.py_buffer(data)


def chunks(column: Any) -> list[Any]:
    """A column of bytes or texts as arrays with 32-bit offsets."""
    arrays = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    found = []
    for array in arrays:
        kind = array.type
        if not (pa.types.is_binary(kind) or pa.types.is_string(kind)):
            if not any(check(kind) for check in _CONVERTED):
                raise TypeError(f"records are a column of bytes, not of {kind}")
            array = array.cast(pa.binary())
        found.append(array)
    return found


def binary_buffers(array: Any) -> tuple[Any, Any, Any]:
    """Data, offsets and validity; an empty array may come without."""
    validity, offsets, data = array.buffers()
    return (
        b"" if data is None else memoryview(data),
        bytes(4) if offsets is None else memoryview(offsets),
        None if validity is None else memoryview(validity),
    )
