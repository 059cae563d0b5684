"""Columns that are records with a schema registry: their types, and what a task makes of the bytes.

The driver chooses the reader's schemas; a task reads with them whatever is registered meanwhile.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.types import BinaryType, StringType, StructField, StructType

from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.format import ColumnFormat

if TYPE_CHECKING:
    from ottla.pipelines.registry.codec import ColumnReading


class FormattedColumns:
    """The formatted ones among the columns that a query reads."""

    def __init__(self, formats: Sequence[ColumnFormat], schema: StructType) -> None:
        """`schema` is what the user gave, or `formatted_schema`."""
        self._names: Final = tuple(schema.fieldNames())
        wanted = [each for each in formats if {each.column, each.error_column} & set(self._names)]
        self._plans: Final = {each.column: _plan(each) for each in wanted}
        self._errors: Final = {each.error_column: each.column for each in wanted if each.on_error == "column"}
        self.raw_schema: Final = self._raw(schema)

    def read(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The batches with values in the place of bytes."""
        return iter(batches) if not self._plans else self._read(batches)

    def _read(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from ottla.pipelines.registry.spark_type import for_spark

        for batch in batches:
            arrays = {name: batch.column(name) for name in batch.schema.names}
            for column, plan in self._plans.items():
                result = plan.result(arrays[column])
                arrays[f"{column}_error"] = result.errors
                arrays[column] = for_spark(result.settled("fail" if plan.on_error == "fail" else "null"))
            yield pa.RecordBatch.from_arrays([arrays[name] for name in self._names], names=list(self._names))

    def _raw(self, schema: StructType) -> StructType:
        """The columns as they are fetched."""
        fields = []
        for field in schema.fields:
            plan = self._plans.get(field.name)
            if plan is not None:
                expected = plan.value_type.simpleString()
                if field.dataType.simpleString() != expected:
                    raise OptionError(
                        "schema", f"column {field.name!r} is {expected}: leave it out, or give its schema"
                    )
                fields.append(StructField(field.name, BinaryType()))
            elif field.name not in self._errors:
                fields.append(field)
        names = {field.name for field in fields}
        fields += [StructField(column, BinaryType()) for column in self._plans if column not in names]
        return StructType(fields)


def formatted_schema(formats: Sequence[ColumnFormat], schema: StructType) -> StructType:
    """A topic's schema with the types that the registry knows, and with columns for errors where they are wanted."""
    fields = []
    for field in schema.fields:
        found = next((each for each in formats if each.column == field.name), None)
        if found is None:
            fields.append(field)
            continue
        fields.append(StructField(field.name, _plan(found).value_type))
        if found.on_error == "column":
            fields.append(StructField(found.error_column, StringType()))
    return StructType(fields)


def _plan(found: ColumnFormat) -> "ColumnReading":
    from ottla.client.registry.value import SchemaText
    from ottla.pipelines.registry.codec import reading
    from ottla.schema.schema_type import SchemaType

    kind = SchemaType(found.schema_type)
    schema = found.subject if found.schema is None else SchemaText(found.schema, kind)
    assert schema is not None
    plan = reading(found.settings, schema, found.on_error, found.message)
    if plan.schema.schema_type is not kind:
        raise OptionError(f"{found.column}.format", f"{found.subject} has schemas of {plan.schema.schema_type}")
    return plan
