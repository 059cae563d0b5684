"""The layout that the compiler of a schema hands to the loops over bytes: slots, and programs of steps that fill them.

A slot is one array of the result: slot 0 is the whole, the slots of its parts follow. A step reads (or skips) one value
of the writer's and appends one value to its slot; a program is all steps for one writer's schema. Both twins of the
loops run the same programs.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from ottla.base.frozen import frozen

BYTES_MAX: Final = (1 << 31) - 1
"""Of one column of texts or lists: Arrow's offsets have 32 bits."""

DEPTH_MAX: Final = 200
"""Of values in values, where a type may contain itself."""

EMPTY_ITEMS_MAX: Final = 65_536
"""Items that take no bytes, of one record: their count is all that says how many there are."""


class Kind(IntEnum):
    """The storage of the values of a slot."""

    NOTHING = 0
    BIT = 1
    FIXED = 2
    """`width` bytes each."""
    BYTES = 3
    STRUCT = 4
    LIST = 5


class Slot(NamedTuple):
    """One array to fill; `children` are the numbers of the slots of its parts."""

    kind: Kind
    width: int = 0
    children: tuple[int, ...] = ()


class Op(IntEnum):
    """The operations of steps. The first group appends the value that it reads, the last one skips it."""

    NULL = 0
    BOOLEAN = 1
    INT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    INTEGER_AS_FLOAT = 6
    INTEGER_AS_DOUBLE = 7
    FLOAT_AS_DOUBLE = 8
    STRING = 9
    """Bytes that have to be UTF-8."""
    BYTES = 10
    FIXED = 11
    DECIMAL = 12
    """`a`: its bytes, or -1 where a length precedes them; `b`: where the bound of its digits is in the blob."""
    RECORD = 13
    ARRAY = 14
    """`a`: the fewest bytes that an item takes, 0 or 1."""
    MAP = 15
    """Two parts: the step for keys, the step for values."""
    MEMBER = 16
    """`a`: which member of a struct that stands for a union; the others become null."""
    BARE = 17
    """All bytes that are left; with `a` they have to be UTF-8."""

    TEXT = 18
    """Appends `b` bytes of the blob from `a` on, and reads nothing."""
    CONSTANT = 19
    """Runs its part on `b` bytes of the blob from `a` on."""
    CHOICE = 20
    """Reads a number, and runs that one of its parts."""
    FAIL = 21
    """The record can't be read: `a` is the reason's number."""

    SKIP_NUMBER = 22
    SKIP_BYTES = 23
    SKIP_FIXED = 24
    """`a` bytes."""
    SKIP_RECORD = 25
    SKIP_ARRAY = 26
    SKIP_MAP = 27


class ReadStep(NamedTuple):
    """One step; `parts` are the numbers of others."""

    op: Op
    slot: int = -1
    a: int = 0
    b: int = 0
    parts: tuple[int, ...] = ()


@frozen
class Program:
    """The steps for one writer's schema; the first is where a record starts."""

    steps: tuple[ReadStep, ...]
    blob: bytes = b""
    reasons: tuple[str, ...] = ()
    """Why a step fails, by its `a`."""


class Code(IntEnum):
    """Why a record could not be read."""

    ENDS_EARLY = 1
    NUMBER_TOO_LONG = 2
    INT_TOO_LARGE = 3
    NEGATIVE_LENGTH = 4
    NOT_UTF8 = 5
    NO_SUCH_BRANCH = 6
    DECIMAL_TOO_LARGE = 7
    TOO_MANY_ITEMS = 8
    TOO_DEEP = 9
    COLUMN_FULL = 10
    NULL_VALUE = 11
    NO_SUCH_SYMBOL = 12
    WRONG_MEMBERS = 13
    WIRE_TYPE = 14
    NO_MEMORY = 15
    NOT_JSON = 16
    WRONG_KIND = 17
    NUMBER_TOO_LARGE = 18
    REASON = 100
    """100 and above: the program's reason of that number."""


MESSAGES: Final = {
    Code.ENDS_EARLY: "the record ends in the middle of a value",
    Code.NUMBER_TOO_LONG: "a number has more than ten bytes",
    Code.INT_TOO_LARGE: "an int has more than 32 bits",
    Code.NEGATIVE_LENGTH: "a length is negative",
    Code.NOT_UTF8: "a string is not UTF-8",
    Code.NO_SUCH_BRANCH: "a union or an enum has no branch or symbol of that number",
    Code.DECIMAL_TOO_LARGE: "a decimal has more digits than its schema allows",
    Code.TOO_MANY_ITEMS: "an array or map has more items than the record has bytes for",
    Code.TOO_DEEP: f"values are nested deeper than {DEPTH_MAX}",
    Code.COLUMN_FULL: "a column would have more than 2 GiB: decode fewer records at a time",
    Code.NULL_VALUE: "a value is null, and the schema allows none",
    Code.NO_SUCH_SYMBOL: "a text is no symbol of the enum",
    Code.WRONG_MEMBERS: "exactly one member of a union has to have a value",
    Code.WIRE_TYPE: "a field's tag is not one of Protobuf's",
    Code.NOT_JSON: "the text is not JSON",
    Code.WRONG_KIND: "a value is of another type than its schema's",
    Code.NUMBER_TOO_LARGE: "an integer has more than 64 bits",
}


class Flaw(NamedTuple):
    """A record that could not be read: its row, the code, and the byte of the record where reading stopped."""

    row: int
    code: int
    position: int


class Filled(NamedTuple):
    """The buffers of one slot; those that its kind lacks are None."""

    rows: int
    nulls: int
    validity: object | None
    offsets: object | None
    data: object | None


def message(reasons: tuple[str, ...], code: int) -> str:
    """The sentence for a flaw; `reasons` are the program's own."""
    return reasons[code - Code.REASON] if code >= Code.REASON else MESSAGES[Code(code)]
