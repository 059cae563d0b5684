"""Any value of any message in any version, drawn from its definition."""

from typing import Any

from hypothesis import strategies as st

from ottla.base.ids import Uuid
from ottla.protocol.codec.plan import FieldPlan, StructPlan
from ottla.protocol.definition import Message
from ottla.protocol.struct_type import Kind
from tests.vectors.message_vectors import message_types

TEXT = st.text(max_size=20) | st.sampled_from(["", "x" * 127, "x" * 128, "ü" * 100])
RAW = st.binary(max_size=20) | st.sampled_from([b"", bytes(127), bytes(128)])
SIMPLE: dict[Kind, st.SearchStrategy[Any]] = {
    Kind.BOOL: st.booleans(),
    Kind.INT8: st.integers(-(1 << 7), (1 << 7) - 1),
    Kind.INT16: st.integers(-(1 << 15), (1 << 15) - 1),
    Kind.INT32: st.integers(-(1 << 31), (1 << 31) - 1),
    Kind.INT64: st.integers(-(1 << 63), (1 << 63) - 1),
    Kind.UINT16: st.integers(0, (1 << 16) - 1),
    Kind.UINT32: st.integers(0, (1 << 32) - 1),
    Kind.FLOAT64: st.floats(allow_nan=False),
    Kind.UUID: st.binary(min_size=16, max_size=16).map(Uuid),
    Kind.STRING: TEXT,
    Kind.BYTES: RAW,
    Kind.RECORDS: RAW,
}
UNKNOWN_TAGS = st.none() | st.dictionaries(st.integers(1000, 1 << 30), RAW, min_size=1, max_size=3)


@st.composite
def messages(draw: st.DrawFn) -> tuple[Message, int]:
    """A message and a version that can carry it."""
    message = draw(st.sampled_from(sorted(message_types().values(), key=lambda found: found.__name__)))
    version = draw(st.integers(message.valid_versions.lowest, message.valid_versions.highest))
    return draw(structs(message.plan(version))), version


@st.composite
def structs(draw: st.DrawFn, plan: StructPlan) -> Any:
    """A struct that its version can carry: what the version lacks keeps its default."""
    values = {planned.name: draw(fields(planned)) for planned in plan.fields + plan.tagged}
    tags = draw(UNKNOWN_TAGS) if plan.flexible else None
    return plan.struct(**values, unknown_tags=tags)


def fields(planned: FieldPlan) -> st.SearchStrategy[Any]:
    """Any value of a field."""
    if planned.kind is Kind.ARRAY:
        assert planned.element is not None
        found: st.SearchStrategy[Any] = st.lists(fields(planned.element), max_size=3)
    elif planned.kind is Kind.STRUCT:
        assert planned.nested is not None
        found = structs(planned.nested)
    else:
        found = SIMPLE[planned.kind]
    return st.none() | found if planned.nullable else found
