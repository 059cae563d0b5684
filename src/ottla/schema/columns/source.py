"""The parts of a writing program that the loops over rows run: arrays as sources, and steps."""

from enum import IntEnum
from typing import NamedTuple

from ottla.base.buffer import Buffer
from ottla.schema.columns.layout import Kind


class Source(NamedTuple):
    """One Arrow array: row 0 is at `first` in its buffers."""

    kind: Kind
    width: int
    first: int
    rows: int
    validity: Buffer | None
    offsets: Buffer | None
    data: Buffer | None
    child: int = -1
    """The source of a list's items; a map's keys, which its values follow."""


class Write(IntEnum):
    """The operations of steps, each on one row of its source."""

    NOTHING = 0
    BOOLEAN = 1
    INT = 2
    LONG = 3
    FIXED = 4
    BYTES = 5
    SYMBOL = 6
    """An int that is an enum's index; below zero the text was no symbol."""
    DECIMAL = 7
    """`a`: the bytes of the fixed, or -1 for as few as hold the number, after their count."""
    RECORD = 8
    ARRAY = 9
    """One part for the items; for a map one for keys and one for values. `a` is the source of the items."""
    OPTION = 10
    """`a`: the branch that is null, or -1 if none is; `b`: the branch of the one part."""
    MEMBERS = 11
    """`a` as before. Parts are options, of which exactly one has a value."""
    CONSTANT = 12
    """`b` bytes of the blob from `a` on."""

    PRESENT = 13
    """Its parts, unless the source is null."""
    NONZERO = 14
    """Its parts, unless the source is null or the default of its type: 0, false, empty."""
    REPEATED = 15
    """Its parts for each item, nothing for null. `a` is the source of the items."""
    PACKED = 16
    """The first part, a length, and then the second part for each item; nothing where there are none."""
    SIZED = 17
    """A length, and its parts."""
    VARINT = 18
    """A signed number as Protobuf has it: a negative one takes ten bytes."""
    UNSIGNED = 19
    TEXT = 20
    """Bytes after their length, without a sign."""
    ENUM = 21
    """A number in eight bytes; one below -2³¹ stands for a text that is no constant."""

    JSON_OBJECT = 22
    """Parts that each begin with a comma, in braces."""
    JSON_LIST = 23
    JSON_MAP = 24
    """Two parts: the step for keys, the step for values. Like a list, `a` is the source of the items."""
    JSON_STRING = 25
    JSON_RAW = 26
    """Text that is JSON already."""
    JSON_TEXT = 27
    """Text that has to be JSON."""
    JSON_OPTION = 28
    """`null`, or its part."""
    JSON_MEMBER = 29
    """Its parts, whatever the source has: the last of them refuses null where it has to."""


class WriteStep(NamedTuple):
    """One step; `parts` are the numbers of others."""

    op: Write
    source: int
    a: int = 0
    b: int = 0
    parts: tuple[int, ...] = ()
