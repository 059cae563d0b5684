"""Any document, any text: columns are what Python's json reads, both twins agree, what was read is written."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.schema.columns.json_column import decode, encode

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": ["integer", "null"]},
        "b": {"type": ["number", "null"]},
        "c": {"type": ["string", "null"]},
        "d": {"type": ["boolean", "null"]},
        "e": {},
        "f": {"type": "array", "items": {"type": ["object", "null"], "properties": {"x": {"type": "string"}}}},
        "g": {"type": "object", "additionalProperties": {"type": ["array", "null"], "items": {"type": "number"}}},
    },
}
TEXTS = st.text(max_size=6, alphabet=st.characters(exclude_categories=["Cs"]))
ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "a": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        "b": st.one_of(st.none(), FLOATS, st.integers(-(2**70), 2**70)),
        "c": st.one_of(st.none(), TEXTS),
        "d": st.one_of(st.none(), st.booleans()),
        "e": ANY,
        "f": st.lists(st.one_of(st.none(), st.fixed_dictionaries({}, optional={"x": TEXTS})), max_size=3),
        "g": st.dictionaries(TEXTS, st.one_of(st.none(), st.lists(FLOATS, max_size=2)), max_size=3),
        "other": ANY,
    },
)
STYLES = st.fixed_dictionaries({"ensure_ascii": st.booleans(), "indent": st.sampled_from([None, 1])})


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(DOCUMENTS, STYLES), max_size=4))
def test_documents_are_read_as_python_reads_them(given_documents: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    records = [json.dumps(document, **style).encode() for document, style in given_documents]
    array, flaws = decode(records, SCHEMA)
    assert not flaws
    for row, (document, _) in zip(array.to_pylist(), given_documents, strict=True):
        assert _python(row) == _wanted(document)
    again, flaws = encode(array, SCHEMA)
    assert not flaws
    assert repr(decode(again, SCHEMA)[0].to_pylist()) == repr(array.to_pylist())


@settings(max_examples=150, deadline=None)
@given(DOCUMENTS, st.data())
def test_any_text_is_read_alike_by_both_and_never_breaks(document: dict[str, Any], source: st.DataObject) -> None:
    text = json.dumps(document, **source.draw(STYLES)).encode()
    at = source.draw(st.integers(0, len(text)))
    more = source.draw(st.one_of(st.binary(max_size=3), st.sampled_from([b",", b"}", b"]", b'"', b"\\", b"1", b"e"])))
    changed = text[:at] + more + text[at + source.draw(st.integers(0, 3)) :]
    array, flaws = decode([changed, text, None, source.draw(st.binary(max_size=20))], SCHEMA)
    assert all(array[row].as_py() is None for row in flaws)
    assert 1 not in flaws
    try:
        value = json.loads(changed, parse_constant=int)
    except (ValueError, RecursionError):
        assert 0 in flaws
        return
    if 0 not in flaws:
        assert _python(array[0].as_py()) == _wanted(value)


def _python(row: dict[str, Any]) -> dict[str, Any]:
    text = row["e"]
    entries = None if row["g"] is None else dict(row["g"])
    return {**row, "e": None if text is None else json.loads(text), "g": entries}


def _wanted(document: dict[str, Any]) -> dict[str, Any]:
    row = {name: document.get(name) for name in SCHEMA["properties"]}
    if row["b"] is not None:
        row["b"] = float(row["b"])
    if row["f"] is not None:
        row["f"] = [None if each is None else {"x": each.get("x")} for each in row["f"]]
    return row
