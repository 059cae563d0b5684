"""What must hold for any two Avro schemas: our verdict means that fastavro reads the data."""

import io
import json
from typing import Any

import fastavro
from fastavro.schema import to_parsing_canonical_form
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ottla.schema.avro.parse import parse
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.compatibility import Level, check
from ottla.schema.error import InvalidSchemaError
from ottla.schema.policy import Policy
from tests.property.schema.avro_strategies import data, neighbours, schemas


def read(schema: Any) -> AvroSchema:
    return parse(json.dumps(schema), (), {}, strict=True)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Any, Any]:
    schema = draw(schemas())
    other = draw(neighbours(schema))
    try:
        read(other)
    except InvalidSchemaError:
        assume(False)
    return (schema, other) if draw(st.booleans()) else (other, schema)


@settings(max_examples=150, deadline=None)
@given(pairs(), st.data())
def test_compatible_means_that_data_written_with_one_decodes_with_the_other(
    pair: tuple[Any, Any], source: st.DataObject
) -> None:
    writer, reader = pair
    assume(not read(reader).incompatibilities(read(writer), Policy.STRICT))
    datum = source.draw(data(writer, {}))
    encoded = io.BytesIO()
    fastavro.schemaless_writer(encoded, fastavro.parse_schema(writer), datum)
    encoded.seek(0)
    fastavro.schemaless_reader(encoded, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
    assert encoded.read() == b""


@settings(max_examples=80, deadline=None)
@given(schemas())
def test_a_schema_reads_itself_and_its_normal_form(schema: Any) -> None:
    parsed = read(schema)
    normal = parsed.normalized()
    for reader, writer in ((parsed, parsed), (parsed, normal), (normal, parsed)):
        assert reader.incompatibilities(writer, Policy.STRICT) == ()
    assert normal.normalized() == normal
    assert normal.fingerprint() == parsed.fingerprint()


@settings(max_examples=80, deadline=None)
@given(schemas())
def test_texts_are_stable_and_the_parsing_form_is_fastavros(schema: Any) -> None:
    parsed = read(schema)
    assert read(json.loads(parsed.canonical_text)) == parsed
    assert parsed.parsing_form == to_parsing_canonical_form(fastavro.parse_schema(schema))


@settings(max_examples=80, deadline=None)
@given(pairs())
def test_full_is_backward_and_forward(pair: tuple[Any, Any]) -> None:
    new, old = map(read, pair)
    either = [bool(check(level, new, [(1, old)])) for level in (Level.BACKWARD, Level.FORWARD)]
    assert bool(check(Level.FULL, new, [(1, old)])) == any(either)
    assert bool(check(Level.FORWARD, new, [(1, old)])) == bool(check(Level.BACKWARD, old, [(1, new)]))
