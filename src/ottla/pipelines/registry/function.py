"""`from_registry` and `to_registry`: columns of records to columns of values and back, in any query.

Arrow batches go to Python and back; no Python object is made for a record.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]  # its stubs lack it
from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from ottla.client.registry.value import SchemaText
from ottla.client.serde.column.result import OnError
from ottla.pipelines.registry.codec import reading, writing
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType

if TYPE_CHECKING:
    from pyspark.sql import Column

Schema = str | Mapping[str, Any] | Sequence[Any]


def from_registry(
    column: "Column | str",
    registry: str | Mapping[str, object],
    *,
    subject: str | None = None,
    schema: Schema | None = None,
    schema_type: SchemaType = SchemaType.AVRO,
    references: Sequence[Reference] = (),
    message: str | None = None,
    on_error: OnError = "fail",
) -> "Column":
    """The values of framed records, each written with a schema of its own, by one reader's schema.

    That is `schema`, or the version of `subject` that is the latest now. `registry` is an address or the settings of
    `SchemaRegistry`. Of Protobuf it is one message: `message` is its full name, the schema's first by default. A bad
    record fails the query; with `on_error="null"` it is null, with `"column"` there are structs of `value` and `error`.
    """
    if (schema is None) == (subject is None):
        raise ValueError("give either schema or subject")
    wanted = subject if schema is None else _text(schema, schema_type, references)
    assert wanted is not None
    plan = reading(registry, wanted, on_error, message)

    def read(records: pa.Array) -> pa.Array:
        return plan.read(records)

    values: Column = arrow_udf(read, plan.type)(column)
    return values


def to_registry(
    column: "Column | str",
    registry: str | Mapping[str, object],
    subject: str,
    *,
    schema: Schema | None = None,
    schema_type: SchemaType = SchemaType.AVRO,
    references: Sequence[Reference] = (),
    message: str | None = None,
    on_error: OnError = "fail",
) -> "Column":
    """Framed records of the values: by `schema`, registered under `subject`, or by the subject's latest version.

    A value that does not fit fails the query, or is null, or leads to structs of `value` and `error`, as above.
    """
    text = None if schema is None else _text(schema, schema_type, references)
    plan = writing(registry, subject, text, on_error, message)

    def write(rows: pa.Array) -> pa.Array:
        return plan.write(rows)

    both = StructType([StructField("value", BinaryType()), StructField("error", StringType())])
    records: Column = arrow_udf(write, both if on_error == "column" else BinaryType())(column)
    return records


def _text(schema: Schema, schema_type: SchemaType, references: Sequence[Reference]) -> SchemaText:
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return SchemaText(text, schema_type, tuple(references))
