"""Columns that are written as records with a schema registry: checked on the driver, encoded by tasks.

Encoding is a function of the rows: a micro-batch that is repeated is encoded anew, and a sink that writes it exactly
once does so as before.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import BinaryType, StructField, StructType

from ottla.client.errors import SerializationError
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.format import ColumnFormat
from ottla.pipelines.sink.errors import SinkSchemaError

if TYPE_CHECKING:
    from ottla.pipelines.registry.codec import ColumnWriting


class FormattedRows:
    """The formatted ones among the columns that are written."""

    def __init__(self, formats: Sequence[ColumnFormat], schema: StructType) -> None:
        names = schema.fieldNames()
        self._plans: Final = {each.column: _plan(each, schema) for each in formats if each.column in names}
        fields = [
            StructField(field.name, BinaryType()) if field.name in self._plans else field for field in schema.fields
        ]
        self.raw_schema: Final = StructType(fields)

    def write(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with records in the place of values."""
        for batch in batches:
            written = batch
            for column, plan in self._plans.items():
                at = batch.schema.names.index(column)
                written = written.set_column(at, column, plan.write(batch.column(at)))
            yield written


def _plan(found: ColumnFormat, schema: StructType) -> "ColumnWriting":
    from pyspark.sql.pandas.types import to_arrow_type

    from ottla.client.registry.value import SchemaText
    from ottla.pipelines.registry.codec import writing
    from ottla.schema.schema_type import SchemaType

    if found.subject is None:
        raise OptionError(f"{found.column}.subject", "required where rows name their topics")
    kind = SchemaType(found.schema_type)
    text = None if found.schema is None else SchemaText(found.schema, kind)
    plan = writing(found.settings, found.subject, text, "fail", found.message)
    if plan.schema.schema_type is not kind:
        raise OptionError(f"{found.column}.format", f"{found.subject} has schemas of {plan.schema.schema_type}")
    try:
        plan.check(to_arrow_type(schema[found.column].dataType))
    except SerializationError as error:
        raise SinkSchemaError(found.column, str(error)) from None
    return plan
