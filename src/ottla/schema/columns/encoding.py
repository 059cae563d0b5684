"""Arrow columns as Avro records of one schema."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ottla.schema.avro.schema import AvroSchema
from ottla.schema.columns.array_plan import ArrayPlan
from ottla.schema.columns.encoder import encode_rows
from ottla.schema.columns.layout import MESSAGES, Code
from ottla.schema.columns.writing import WritePlan


class AvroRecords:
    """Writes rows as records; a null row stays null.

    >>> from ottla.schema.avro.parse import parse
    >>> records = AvroRecords(parse('"string"', (), {}, strict=True))
    >>> records.encode(pa.array(["hi", None]))[0].to_pylist()
    [b'\\x04hi', None]
    """

    def __init__(self, schema: AvroSchema) -> None:
        self.schema: Final = schema

    def encode(self, rows: Any, prefix: bytes = b"") -> tuple[Any, dict[int, str]]:
        """The records, each with the prefix before it, and why rows could not be written, which are null.

        Raises `UnfitColumnError` for a column that does not fit the schema at all.
        """
        array = one_array(rows)
        if self.schema.root.kind == "bytes" and "logicalType" not in self.schema.root.props:
            # Confluent's serializers write a schema that is plain bytes without a length.
            return pc.binary_join_element_wise(prefix, array.cast(pa.binary()), b""), {}
        plan = WritePlan(self.schema.root, array)
        return encoded(plan, prefix)


def encoded(plan: ArrayPlan, prefix: bytes) -> tuple[Any, dict[int, str]]:
    """The records that a plan writes, and why rows could not be written."""
    filled, found = encode_rows(plan.sources, plan.steps, bytes(plan.blob), prefix)
    flaws = {}
    for flaw in found:
        path = plan.paths[flaw.position]
        flaws[flaw.row] = f"{MESSAGES[Code(flaw.code)]}{f': column {path[1:]}' if path else ''}"
    buffers = [None if each is None else pa.py_buffer(each) for each in (filled.validity, filled.offsets, filled.data)]
    return pa.Array.from_buffers(pa.binary(), filled.rows, buffers, filled.nulls), flaws


def one_array(rows: Any) -> Any:
    """Tables and batches as one array."""
    if isinstance(rows, pa.Table):
        rows = rows.to_struct_array()
    elif isinstance(rows, pa.RecordBatch):
        return rows.to_struct_array()
    return rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
