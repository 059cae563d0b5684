"""Any bytes as JSON documents, read into Arrow columns: both twins must agree, and what was read is written the same.

The first byte chooses a schema, the second how the rest is cut into documents. What is read is JSON to Python, too.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from ottla.schema.columns.json.decoding import JsonColumns
from tests.unit.schema.columns import twins
from tests.unit.schema.columns.json_column import PLACE, encode, parsed

TITLE = "JSON documents as Arrow columns"
LINE: Any = {
    "type": "object",
    "properties": {"price": {"type": "number"}, "count": {"type": "integer"}, "note": {"type": ["null", "string"]}},
    "required": ["price"],
}
DOCUMENTS: Final[tuple[Any, ...]] = (
    {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "paid": {"type": "boolean"},
            "lines": {"type": "array", "items": LINE},
            "first": LINE,
            "by": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "number"}}},
            "any": {},
            "kind": {"enum": ["a", "b"]},
        },
        "required": ["id"],
    },
    {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    {"type": "number"},
    {"type": ["null", "string"]},
    {"type": "object", "additionalProperties": {"type": "string"}},
)
READERS: Final = [
    twins.readers(PLACE, lambda document=document: JsonColumns(parsed(document))) for document in DOCUMENTS
]


def fuzz_one(data: bytes) -> None:
    """One try."""
    if len(data) < 2:
        return
    at, size = data[0] % len(DOCUMENTS), 1 + data[1]
    bodies = [data[start : start + size] for start in range(2, len(data), size)]
    array, flaws = twins.read(READERS[at], bodies)
    rows = array.to_pylist()
    for row, body in enumerate(bodies):
        assert row not in flaws or rows[row] is None
        assert row in flaws or _is_json(body), body
    again, bad = encode(array, DOCUMENTS[at])
    assert not bad
    twice, _ = twins.read(READERS[at], again)
    assert repr(twice.to_pylist()) == repr(rows)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body.decode())
    except ValueError:
        return False
    return True


def seeds() -> Iterator[bytes]:
    """Documents as clients write them."""
    line = {"price": 1.5e300, "count": -(2**63), "note": None}
    order = {
        "id": 'a"\\\u00e4\U0001f69a',
        "paid": False,
        "lines": [line, {"price": 0, "note": "x", "more": [{}]}],
        "first": line,
        "by": {"k": [1, 2.5], "": []},
        "any": {"a": [1, None, "b"]},
        "kind": "b",
    }
    for at, document in ((0, order), (1, [[1, -2], []]), (2, -0.0), (3, "\ud83d\ude9a"), (3, None), (4, {"a": "b"})):
        for escaped in (True, False):
            body = json.dumps(document, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
            yield bytes((at, min(255, len(body) - 1))) + body
            yield bytes((at, len(body) // 2 % 256)) + body
