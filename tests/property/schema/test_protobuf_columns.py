"""Any message, any bytes: columns are what protobuf reads, both twins agree, and what was read is written the same."""

from typing import Any

from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schema.columns.protobuf_column import ORDERS, as_row, decode, encode, message_class

ORDER = message_class(ORDERS, "shop.Order")
PLACE = b"\x02\x06"
NUMBERS = st.one_of(st.integers(0, 200), st.sampled_from([2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1]))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


@st.composite
def fields(draw: st.DrawFn, levels: int = 3) -> bytes:
    """Fields as they stand in a message, of numbers that the schema has or not, right for their type or not."""
    out = b""
    for _ in range(draw(st.integers(0, 4))):
        number, wire = draw(st.integers(1, 34)), draw(st.sampled_from([0, 0, 1, 2, 2, 2, 5]))
        out += _varint(number << 3 | wire)
        if wire == 0:
            out += _varint(draw(NUMBERS))
        elif wire == 2:
            inner = draw(st.one_of(fields(levels - 1), st.text(max_size=4).map(str.encode))) if levels else b"a"
            out += _varint(len(inner)) + inner
        else:
            out += draw(st.binary(min_size=8 if wire == 1 else 4, max_size=8 if wire == 1 else 4))
    return out


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(fields(), st.binary(max_size=30)), max_size=4))
def test_what_protobuf_reads_is_read_alike(payloads: list[bytes]) -> None:
    array, flaws = decode([PLACE + each for each in payloads], ORDERS, "shop.Order")
    for row, payload in enumerate(payloads):
        try:
            wanted: Any = ORDER.FromString(payload)
        except DecodeError:
            # Groups of unlimited depth and numbers with bits beyond the 64th are a matter of the implementation.
            continue
        if row not in flaws:
            assert _same(*map(_compared, (array[row].as_py(), as_row(wanted)))), payload
    again, bad = encode(array, ORDERS, "shop.Order")
    assert not bad
    twice, _ = decode(again, ORDERS, "shop.Order")
    assert repr(twice.to_pylist()) == repr(array.to_pylist())


@settings(max_examples=80, deadline=None)
@given(fields(), st.data())
def test_good_messages_are_never_refused(payload: bytes, source: st.DataObject) -> None:
    try:
        message = ORDER.FromString(payload)
    except DecodeError:
        return
    message.DiscardUnknownFields()
    written = message.SerializeToString()
    array, flaws = decode([PLACE + written], ORDERS, "shop.Order")
    assert not flaws
    assert _same(array[0].as_py(), as_row(message))
    cut = source.draw(st.integers(0, len(written)))
    decode([PLACE + written[:cut], PLACE + written, None], ORDERS, "shop.Order")


def _compared(row: dict[str, Any]) -> dict[str, Any]:
    """Without maps: protobuf's libraries differ in what they make of entries with fields that are not known."""
    return {name: value for name, value in row.items() if not name.startswith("by_")}


def _same(got: Any, want: Any) -> bool:
    """Maps without their order, and the last of several entries with one key; NaN is itself."""
    if isinstance(want, dict):
        return got.keys() == want.keys() and all(_same(got[name], want[name]) for name in want)
    if isinstance(want, list) and got and isinstance(got[0], tuple):
        return _same(dict(got), dict(want))
    if isinstance(want, list):
        return len(got) == len(want) and all(map(_same, got, want))
    return repr(got) == repr(want)
