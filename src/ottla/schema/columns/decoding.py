"""Columns of Avro records, one schema each or several in one column, as Arrow arrays of the reader's schema."""

from typing import Any, Final

import pyarrow as pa

from ottla.schema.avro.model import Node
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.columns.arrow import decoded
from ottla.schema.columns.decoder import ColumnDecoder
from ottla.schema.columns.layout import Program
from ottla.schema.columns.resolution import resolve
from ottla.schema.columns.shape import Shapes


class AvroColumns:
    """Reads records into columns of one schema; programs for writers' schemas are added as they turn up.

    >>> from ottla.schema.avro.parse import parse
    >>> columns = AvroColumns(parse('"string"', (), {}, strict=True))
    >>> array, flaws = columns.decode(pa.array([b"\\x04hi", b"\\x04h"]), pa.array([columns.add(columns.schema)] * 2))
    >>> array.to_pylist(), flaws
    (['hi', None], {1: 'the record ends in the middle of a value, at byte 1'})
    """

    def __init__(self, schema: AvroSchema) -> None:
        self.schema: Final = schema
        self._root: Final[Node] = schema.root
        self._shapes: Final = Shapes(schema.root)
        self._decoder: Final = ColumnDecoder(self._shapes.slots)
        self._programs: Final[list[Program]] = []

    @property
    def type(self) -> Any:
        """The Arrow type of what is decoded."""
        return self._shapes.root.type

    def add(self, writer: AvroSchema) -> int:
        """The number of the program for a writer's schema."""
        program = resolve(writer.root, self._root, self._shapes.root)
        self._programs.append(program)
        return self._decoder.add(program)

    def decode(self, records: Any, programs: Any, skip: int = 0) -> tuple[Any, dict[int, str]]:
        """The array, and why rows could not be read, which are null in it.

        `programs` (int32) names a program for each row; below zero the row is null. `skip` bytes stand before records.
        """
        return decoded(self._decoder, self._shapes, self._programs, (records, programs.cast(pa.int32()), skip))
