"""The plans that the compiler of a Protobuf schema hands to the loops over bytes: one for each message and its fields.

A message type that is used in two places has two plans, since its values go into two columns. Both twins of the loops
follow the same plans.
"""

from enum import IntEnum
from typing import NamedTuple

from ottla.base.frozen import frozen


class Value(IntEnum):
    """The encodings of one value in a record."""

    BOOL = 0
    VARINT32 = 1
    """int32 and uint32: the lowest 32 bits."""
    VARINT64 = 2
    ZIGZAG32 = 3
    ZIGZAG64 = 4
    ENUM = 5
    """Becomes the constant's name, or the digits of a number that has none."""
    FIXED32 = 6
    FIXED64 = 7
    STRING = 8
    BYTES = 9
    MESSAGE = 10


class Absent(IntEnum):
    """The handling of a field that a record lacks."""

    NULL = 0
    DEFAULT = 1
    """The value of `default`, which is written as in a record."""
    LIST = 2
    """It is repeated: a list, which may be empty."""
    REQUIRED = 3
    """The record is bad."""


class FieldPlan(NamedTuple):
    """One field."""

    number: int
    value: Value
    absent: Absent
    slot: int
    item: int
    """The slot of one value: that of the items where the field is repeated, else `slot`."""
    oneof: int = -1
    """Which of the message's oneofs it belongs to."""
    part: int = -1
    """The number of a message's plan or of an enum."""
    default: bytes = b""
    reason: int = 0
    """For a required field: the number of the sentence that says it is missing."""


class MessagePlan(NamedTuple):
    """One message in one place; fields by their numbers. Plans of parts follow those of wholes."""

    slot: int
    fields: tuple[FieldPlan, ...]
    oneofs: int = 0


class EnumPlan(NamedTuple):
    """An enum's names by their numbers, which ascend."""

    numbers: tuple[int, ...]
    names: tuple[bytes, ...]


@frozen
class MessageLayout:
    """All plans of a reader's schema; the first is the record's."""

    plans: tuple[MessagePlan, ...]
    enums: tuple[EnumPlan, ...]
    reasons: tuple[str, ...]
    """Sentences by number; 0 is the program's own."""


@frozen
class MessageProgram:
    """The place of the message in one writer's schema; empty if that schema does not have it."""

    place: bytes
    reasons: tuple[str, ...]
