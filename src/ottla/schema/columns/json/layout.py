"""The plans that the compiler of a JSON Schema hands to the loops over text: one for each value and its properties."""

from enum import IntEnum
from typing import NamedTuple

from ottla.base.frozen import frozen


class JsonKind(IntEnum):
    """The kinds of values that the loops read."""

    NULL = 0
    BOOLEAN = 1
    INTEGER = 2
    """64 bits; 1.0 and 1e3 are integers."""
    NUMBER = 3
    STRING = 4
    TEXT = 5
    """Any value, as the text that it is written as."""
    OBJECT = 6
    LIST = 7
    MAP = 8


class PropertyPlan(NamedTuple):
    """One property; `reason` is the number of the sentence that says it is missing, 0 where it need not be there."""

    name: bytes
    node: int
    reason: int = 0


class NodePlan(NamedTuple):
    """One value in one place. `part` is the plan of a list's items or a map's values."""

    kind: JsonKind
    slot: int
    is_nullable: bool
    part: int = -1
    properties: tuple[PropertyPlan, ...] = ()


@frozen
class DocumentLayout:
    """All plans of a schema; the first is the document's. Plans of parts follow those of wholes."""

    nodes: tuple[NodePlan, ...]
    reasons: tuple[str, ...]
