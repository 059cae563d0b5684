"""Any bytes as Protobuf records, read into Arrow columns: both twins must agree, and with what Google's parser reads.

The first byte chooses a message, the second how the rest is cut into records. What was read is written the same. There
is no enum of proto2: Google's parser leaves out its numbers without a name, columns have their digits.
"""

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.message import DecodeError

from ottla.schema.columns.protobuf.decoding import ProtobufColumns, place_of
from ottla.schema.protobuf.message_index import indexes_of
from tests.unit.schema.columns import twins
from tests.unit.schema.columns.protobuf_column import ORDERS, PLACE, as_row, encode, message_class, of, schema

TITLE = "Protobuf records as Arrow columns"
OLD: Final = schema(
    """
    syntax = "proto2";
    message Leaf { required int32 a = 1; optional string b = 2 [default = "x"]; optional sint64 c = 3; }
    message Tree {
      repeated Leaf leaves = 1 [packed = false]; map<string, Leaf> named = 2; repeated int32 numbers = 3;
      repeated sfixed32 fixed = 4 [packed = true]; repeated bool flags = 5;
      oneof one { Leaf leaf = 6; string text = 7; bytes raw = 8; }
      optional double wide = 9 [default = -inf]; optional bool flag = 536870911;
    }
    """
)
MESSAGES: Final = (
    *((ORDERS, f"shop.{name}") for name in ("Order", "Item", "Price", "Cash")),
    *((OLD, name) for name in ("Tree", "Leaf")),
)
READERS: Final = [
    twins.readers(PLACE, lambda found=found, name=name: ProtobufColumns(found, name)) for found, name in MESSAGES
]
CLASSES: Final = [message_class(found, name) for found, name in MESSAGES]


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 2:
        return
    at = data[0] % len(MESSAGES)
    (found, name), size = MESSAGES[at], 1 + data[1]
    place = place_of(indexes_of(found.file, name))
    bodies = [data[start : start + size] for start in range(2, len(data), size)]
    array, flaws = twins.read(READERS[at], [place + body for body in bodies])
    rows = array.to_pylist()
    for row, body in enumerate(bodies):
        expected = _parsed(CLASSES[at], body)
        assert (row in flaws) == (expected is None), (body, flaws.get(row), expected)
        assert repr(rows[row]) == repr(expected), body
    again, bad = encode(array, found, name)
    assert not bad
    twice, _ = twins.read(READERS[at], again)
    assert repr(twice.to_pylist()) == repr(rows)


def _parsed(made: Any, body: bytes) -> dict[str, Any] | None:
    """The row that Google's parser reads; None for bytes that it refuses, and where a required field is missing."""
    try:
        message = made.FromString(body)
        return as_row(message) if message.IsInitialized() else None
    except (DecodeError, UnicodeDecodeError):
        return None


def seeds() -> Iterator[bytes]:
    """Records that Google's library wrote."""
    item = {"name": "x", "tags": ["t", ""], "count": -4, "price": {"units": 9, "cash": {"coins": 3, "isExact": True}}}
    order = {
        "i32": -5, "u64": 2**64 - 1, "s64": -3, "sf32": -9, "wide": 0.1, "text": "grüß", "state": "PAID", "maybe": 0,
        "item": item, "numbers": [1, -2], "ratios": [0.5], "states": ["NEW", 9], "flags": [True], "words": ["a"],
        "items": [item, {}], "byName": {"k": item}, "byNumber": {"1": "PAID"}, "byFlag": {"true": "YQ=="}, "name": "c",
    }  # fmt: skip
    leaf = {"a": 1, "c": -2}
    tree = {"leaves": [leaf, leaf], "named": {"k": leaf}, "numbers": [1, 2], "fixed": [3], "leaf": leaf, "flag": True}
    for at, values in ((0, order), (1, item), (2, item["price"]), (4, tree), (5, leaf)):
        body = of(*MESSAGES[at], values).SerializeToString()
        yield bytes((at, len(body) - 1)) + body
        yield bytes((at, len(body) // 2)) + body
