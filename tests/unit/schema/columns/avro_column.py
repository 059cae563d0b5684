"""Columns by one twin or by both, for tests of what both have to do alike."""

import io
import json
from collections.abc import Sequence
from typing import Any
from unittest import mock

import fastavro
import pyarrow as pa

from ottla.schema.avro.parse import parse
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.columns import decoding
from ottla.schema.columns.decoding import AvroColumns
from ottla.schema.columns.encoding import AvroRecords
from tests.unit.schema.columns import twins


def schema(text: Any) -> AvroSchema:
    return parse(json.dumps(text), (), {}, strict=True)


def written(writer: Any, values: Sequence[Any]) -> list[bytes]:
    """Records by fastavro."""
    parsed = fastavro.parse_schema(writer)
    records = []
    for value in values:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, parsed, value)
        records.append(buffer.getvalue())
    return records


def decode(records: Sequence[bytes | None], reader: Any, *writers: Any) -> tuple[Any, dict[int, str]]:
    """The array and the flaws, which all twins agree on; records are of the writers in turn."""
    outcomes = []
    for twin in twins.DECODERS:
        with mock.patch.object(decoding, "ColumnDecoder", twin.ColumnDecoder):
            columns = AvroColumns(schema(reader))
            numbers = [columns.add(schema(writer)) for writer in writers or (reader,)]
        programs = pa.array([numbers[row % len(numbers)] for row in range(len(records))], pa.int32())
        array, flaws = columns.decode(pa.array(records, pa.binary()), programs)
        array.validate(full=True)
        outcomes.append((array, flaws))
    for array, flaws in outcomes[1:]:
        assert flaws == outcomes[0][1]
        assert array.type == outcomes[0][0].type
        assert repr(array.to_pylist()) == repr(outcomes[0][0].to_pylist())
    return outcomes[0]


def encode(rows: Any, writer: Any, prefix: bytes = b"") -> tuple[list[bytes | None], dict[int, str]]:
    """The records and the flaws, which all twins agree on."""
    found, flaws = twins.encoded(lambda: AvroRecords(schema(writer)), rows)
    return [None if each is None else prefix + each for each in found], flaws
