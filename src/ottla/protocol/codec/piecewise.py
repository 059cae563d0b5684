"""Encodes a long message a piece at a time: an answer that grows with the cluster is not to hold up anything else.

A message is long if an array of structs in it is, or one within that. It is cut there: the fields before the array,
its length, its elements a few at a time, the fields behind it. All pieces in a row are what `engine.encode` returns.
"""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from ottla.protocol.codec import engine
from ottla.protocol.codec.plan import FieldPlan, StructPlan
from ottla.protocol.codec.uvarint import uvarint
from ottla.protocol.struct_type import Kind

ELEMENTS_MAX: Final = 100
"""An array of more is long; a piece holds as many of its elements."""

_Cut: TypeAlias = tuple[StructPlan | FieldPlan, ...]


def is_long(plan: StructPlan, value: Any) -> bool:
    """Whether it is worth while to encode it in pieces."""
    for array in _arrays(plan):
        elements = getattr(value, array.name)
        if not elements:
            continue
        if len(elements) > ELEMENTS_MAX:
            return True
        nested = array.nested
        if nested is not None and _arrays(nested) and any(is_long(nested, element) for element in elements):
            return True
    return False


def encode_in_pieces(plan: StructPlan, value: Any) -> Iterator[bytes]:
    """The bytes of a struct, in order; each piece is short, unless it has what is long in another way."""
    if value.unknown_tags is not None or not is_long(plan, value):
        yield engine.encode(((plan, value),))
        return
    for part in _cut(plan):
        if isinstance(part, StructPlan):
            yield engine.encode(((part, value),))
        else:
            yield from _array(part, getattr(value, part.name))


def _array(array: FieldPlan, elements: Any) -> Iterator[bytes]:
    nested = array.nested
    assert nested is not None
    if elements is None:
        yield b"\0" if array.compact else b"\xff\xff\xff\xff"
        return
    count = len(elements)
    yield uvarint(count + 1) if array.compact else count.to_bytes(4, "big")
    for start in range(0, count, ELEMENTS_MAX):
        some = elements[start : start + ELEMENTS_MAX]
        if _arrays(nested) and any(is_long(nested, element) for element in some):
            for element in some:
                yield from encode_in_pieces(nested, element)
        else:
            yield engine.encode(tuple((nested, element) for element in some))


def _arrays(plan: StructPlan) -> tuple[FieldPlan, ...]:
    """The arrays of structs."""
    found = plan.arrays
    if found is None:
        found = plan.arrays = tuple(field for field in plan.fields if field.kind is Kind.ARRAY and field.nested)
    return found


def _cut(plan: StructPlan) -> _Cut:
    """The plan's arrays of structs, and between them plans of what lies there."""
    if plan.cut is None:
        parts: list[StructPlan | FieldPlan] = []
        begin = 0
        for place, field in enumerate(plan.fields):
            if field.kind is Kind.ARRAY and field.nested:
                if place > begin:
                    parts.append(plan.some_fields(begin, place))
                parts.append(field)
                begin = place + 1
        parts.append(plan.some_fields(begin, len(plan.fields)))
        plan.cut = tuple(parts)
    return plan.cut
