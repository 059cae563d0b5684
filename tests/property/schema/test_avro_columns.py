"""Any Avro schema, any pair of an evolution, any bytes: columns are what fastavro reads, and both twins agree."""

import io
import math
import struct
from typing import Any

import fastavro
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ottla.schema.columns.shape import Shapes
from ottla.schema.error import InvalidSchemaError
from ottla.schema.policy import Policy
from tests.property.schema.avro_strategies import data, schemas
from tests.property.schema.test_avro import pairs
from tests.unit.schema.columns.avro_column import decode, encode, schema, written


def some(source: st.DataObject, writer: Any, count_max: int) -> list[Any]:
    """Values of the schema; there are none for a union without branches, wherever it is."""
    assume("[]" not in str(writer).replace("'fields': []", ""))
    return source.draw(st.lists(data(writer, {}), max_size=count_max))


def arrow_type(reader: Any) -> Any:
    try:
        return Shapes(schema(reader).root).root.type
    except InvalidSchemaError as error:
        assume("contains itself" not in error.message)
        raise


@settings(max_examples=80, deadline=None)
@given(schemas(), st.data())
def test_what_fastavro_writes_is_read_and_written_again(writer: Any, source: st.DataObject) -> None:
    arrow_type(writer)
    values = some(source, writer, 5)
    records = written(writer, values)
    if writer == "bytes":
        records = list(values)
    array, flaws = decode(records, writer)
    assert not flaws
    definitions: dict[str, Any] = {}
    for got, want in zip(array.to_pylist(), values, strict=True):
        assert same(writer, got, want, definitions), (got, want)
    again, flaws = encode(array, writer)
    nulls = [row for row, value in enumerate(array.to_pylist()) if value is None]
    assert not flaws
    kept = [record for row, record in enumerate(again) if row not in nulls]
    # Numbers of a union are written as the wider one, and floats keep their bits: read again they are the same.
    assert decode(kept, writer)[0].equals(array.drop_null()) or "nan" in repr(array)


@settings(max_examples=80, deadline=None)
@given(pairs(), st.data())
def test_an_evolution_is_read_as_fastavro_reads_it(pair: tuple[Any, Any], source: st.DataObject) -> None:
    writer, reader = pair
    arrow_type(reader)
    assume("bytes" not in (writer, reader))
    assume(not schema(reader).incompatibilities(schema(writer), Policy.STRICT))
    records = written(writer, some(source, writer, 3))
    array, flaws = decode(records, reader, writer)
    assert not flaws
    for got, record in zip(array.to_pylist(), records, strict=True):
        want = fastavro.schemaless_reader(
            io.BytesIO(record), fastavro.parse_schema(writer), fastavro.parse_schema(reader)
        )
        assert same(reader, got, want, {}), (got, want)


@settings(max_examples=120, deadline=None)
@given(pairs(), st.lists(st.binary(max_size=40), max_size=4), st.data())
def test_any_bytes_are_read_alike_by_both_and_never_break(
    pair: tuple[Any, Any], records: list[bytes], source: st.DataObject
) -> None:
    writer, reader = pair
    arrow_type(reader)
    if source.draw(st.booleans()):
        # What a writer wrote, with a byte changed or missing.
        for record in written(writer, some(source, writer, 2)):
            at = source.draw(st.integers(0, len(record)))
            records.append(
                record[:at] + source.draw(st.binary(max_size=2)) + record[at + source.draw(st.integers(0, 2)) :]
            )
    array, flaws = decode(records, reader, writer)
    assert len(array) == len(records)
    assert all(array[row].as_py() is None for row in flaws)
    if writer == reader and writer != "bytes":
        for row, (got, record) in enumerate(zip(array.to_pylist(), records, strict=True)):
            if row not in flaws:
                want = fastavro.schemaless_reader(io.BytesIO(record), fastavro.parse_schema(writer), None)
                assert same(reader, got, want, {}), (got, want)


@settings(max_examples=50, deadline=None)
@given(schemas(), st.data())
def test_a_bad_record_changes_nothing_for_the_others(writer: Any, source: st.DataObject) -> None:
    arrow_type(writer)
    assume(writer not in ("bytes", "null"))
    records = written(writer, some(source, writer, 4))
    good, _ = decode(records, writer)
    mixed: list[bytes | None] = []
    for record in records:
        mixed += [record[:-1] if record else None, record]
    array, flaws = decode(mixed, writer)
    kept = [value for row, value in enumerate(array.to_pylist()) if row % 2]
    assert repr(kept) == repr(good.to_pylist())
    assert set(flaws) <= {row for row in range(0, len(mixed), 2) if mixed[row] is not None}


def same(reader: Any, got: Any, want: Any, definitions: dict[str, Any]) -> bool:
    """Whether a value out of Arrow is what fastavro has for it."""
    if isinstance(want, tuple):
        want = want[1]
    if isinstance(reader, str):
        return (
            same(definitions[reader], got, want, definitions)
            if reader in definitions
            else _same_leaf(reader, got, want)
        )
    if isinstance(reader, list):
        return _same_union(reader, got, want, definitions)
    kind = reader["type"]
    if "name" in reader:
        definitions[reader["name"]] = reader
    if got is None:
        return want is None
    if kind == "record":
        return all(
            same(field["type"], got[field["name"]], want[field["name"]], definitions) for field in reader["fields"]
        )
    if kind == "array":
        return len(got) == len(want) and all(
            same(reader["items"], *pair, definitions) for pair in zip(got, want, strict=True)
        )
    if kind == "map":
        pairs_ = dict(got)
        return pairs_.keys() == want.keys() and all(
            same(reader["values"], pairs_[key], want[key], definitions) for key in want
        )
    if isinstance(want, str) and isinstance(got, bytes):
        # fastavro leaves defaults as JSON has them.
        want = want.encode("latin-1")
    return bool(got == want)


def _same_union(reader: list[Any], got: Any, want: Any, definitions: dict[str, Any]) -> bool:
    branches = [branch for branch in reader if branch != "null"]
    if got is None or want is None:
        return got is want is None or not branches
    if len(branches) > 1 and isinstance(got, dict) and "member0" in got:
        held = [at for at, value in enumerate(got.values()) if value is not None]
        value = got[f"member{held[0]}"]
        # fastavro takes the first branch that can read a number, Java and we the writer's own type before wider ones.
        is_same_number = {type(value), type(want)} <= {int, float} and value == want
        return len(held) == 1 and (is_same_number or same(branches[held[0]], value, want, definitions))
    return any(_may_be(branch, got, want, definitions) for branch in branches)


def _may_be(branch: Any, got: Any, want: Any, definitions: dict[str, Any]) -> bool:
    try:
        return same(branch, got, want, definitions)
    except (TypeError, KeyError, AttributeError):
        return False


def _same_leaf(reader: str, got: Any, want: Any) -> bool:
    if reader == "null":
        return got is None and want is None
    if reader == "float" and isinstance(want, (int, float)):
        want = struct.unpack("f", struct.pack("f", want))[0] if abs(want) < 2**127 else want
    if reader == "double" and isinstance(want, int):
        want = float(want)
    if isinstance(got, float) and isinstance(want, float) and math.isnan(want):
        return math.isnan(got)
    if isinstance(got, bytes) and isinstance(want, str):
        want = want.encode()
    if isinstance(got, str) and isinstance(want, bytes):
        want = want.decode()
    return type(got) is type(want) and bool(got == want)


def test_lists_and_maps_are_arrows_own() -> None:
    assert arrow_type({"type": "map", "values": {"type": "array", "items": "int"}}) == pa.map_(
        pa.string(), pa.list_(pa.int32())
    )
