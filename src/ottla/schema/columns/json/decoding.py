"""Columns of JSON documents as Arrow arrays of one schema, whichever schemas they were written with.

Types, nulls and required properties are held to the schema. Other keywords (lengths, ranges, patterns) are not checked.
"""

from typing import Any, Final

import pyarrow as pa

from ottla.schema.columns.arrow import decoded
from ottla.schema.columns.json.decoder import DocumentDecoder
from ottla.schema.columns.json.layout import DocumentLayout
from ottla.schema.columns.json.shape import DocumentShapes
from ottla.schema.json_schema.schema import JsonSchema


class JsonColumns:
    """Reads documents into columns of one schema.

    >>> from ottla.schema.json_schema.parse import parse
    >>> columns = JsonColumns(parse('{"properties": {"a": {"type": "integer"}}}', (), {}, strict=True))
    >>> records, program = pa.array([b'{"a": 7}', b'{"a": "7"}']), columns.add(columns.schema)
    >>> array, flaws = columns.decode(records, pa.array([program] * 2))
    >>> array.to_pylist(), flaws
    ([{'a': 7}, None], {1: "a value is of another type than its schema's, at byte 6"})
    """

    def __init__(self, schema: JsonSchema) -> None:
        self.schema: Final = schema
        self._shapes: Final = DocumentShapes(schema.root)
        self._decoder: Final = DocumentDecoder(self._shapes.slots, self._shapes.layout)
        self._programs: Final[list[DocumentLayout]] = []

    @property
    def type(self) -> Any:
        """The Arrow type of what is decoded."""
        return self._shapes.root.type

    def add(self, writer: JsonSchema) -> int:
        """The number of the program for a writer's schema: documents say themselves what they hold."""
        self._programs.append(self._shapes.layout)
        return self._decoder.add(writer)

    def decode(self, records: Any, programs: Any, skip: int = 0) -> tuple[Any, dict[int, str]]:
        """The array, and why rows could not be read, which are null in it; as `AvroColumns.decode`."""
        return decoded(self._decoder, self._shapes, self._programs, (records, programs.cast(pa.int32()), skip))
