"""Arrow columns as JSON documents of one schema."""

from typing import Any, Final

from ottla.schema.columns.encoding import encoded, one_array
from ottla.schema.columns.json.shape import DocumentShapes
from ottla.schema.columns.json.writing import DocumentPlan
from ottla.schema.json_schema.schema import JsonSchema


class JsonRecords:
    """Writes rows as documents; a null row stays null.

    >>> import pyarrow as pa
    >>> from ottla.schema.json_schema.parse import parse
    >>> records = JsonRecords(parse('{"properties": {"a": {"type": "integer"}}}', (), {}, strict=True))
    >>> records.encode(pa.array([{"a": 7}, {"a": None}, None]))[0].to_pylist()
    [b'{"a":7}', b'{}', None]
    """

    def __init__(self, schema: JsonSchema) -> None:
        self.schema: Final = schema
        self._shapes: Final = DocumentShapes(schema.root)

    def encode(self, rows: Any, prefix: bytes = b"") -> tuple[Any, dict[int, str]]:
        """The documents, each with the prefix before it, and why rows could not be written; as `AvroRecords.encode`."""
        return encoded(DocumentPlan(self._shapes.root, one_array(rows)), prefix)
