"""Files of rows: CSV, lines of JSON, Parquet and plain text, each as values with their schemas, from a row on.

A format is chosen by its name. Rows are read one after the other; a file is never in memory as a whole.
"""

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.connect.connectors.arrow_value import arrow_schema, arrow_struct
from ottla.connect.data.schema import OPTIONAL_STRING, STRING, Schema, SchemaAndValue
from ottla.connect.data.schema import Field as SchemaField
from ottla.connect.data.struct import Struct
from ottla.connect.data.type import Type
from ottla.connect.errors import ConnectError, DataError

Rows = Iterator[SchemaAndValue]


@frozen
class CsvOption:
    """The delimiter and the header of a CSV file."""

    delimiter: str = ","
    has_header: bool = True


def text_rows(path: Path, option: CsvOption) -> Rows:
    """Each line, without its end."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            yield SchemaAndValue(STRING, line.removesuffix("\n").removesuffix("\r"))


def json_rows(path: Path, option: CsvOption) -> Rows:
    """Each line that is not empty, as what it says; without a schema."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield SchemaAndValue(None, json.loads(line))
                except ValueError as error:
                    raise DataError(f"{path}, line {number}: not JSON: {error}") from error


def csv_rows(path: Path, option: CsvOption) -> Rows:
    """Each row as a struct of optional texts, named by the first row or `column1`, `column2` …"""
    with path.open(encoding="utf-8", errors="replace", newline="") as lines:
        found = csv.reader(lines, delimiter=option.delimiter)
        first = next(found, None)
        if first is None:
            return
        names = first if option.has_header else [f"column{number}" for number in range(1, len(first) + 1)]
        if len(set(names)) < len(names):
            raise DataError(f"{path}: two columns have the same name: {', '.join(names)}")
        schema = _struct_of(names)
        if not option.has_header:
            yield SchemaAndValue(schema, Struct(schema, dict(zip(names, first, strict=True))))
        for row in found:
            if len(row) != len(names):
                if row:
                    raise DataError(f"{path}, line {found.line_num}: {len(row)} columns where there are {len(names)}")
                continue
            yield SchemaAndValue(schema, Struct(schema, dict(zip(names, row, strict=True))))


def parquet_rows(path: Path, option: CsvOption) -> Rows:
    """Each row as a struct with the types of the columns."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ConnectError("Parquet files need pyarrow: pip install 'ottla[arrow]'") from error
    with parquet.ParquetFile(path) as file:
        schema = arrow_schema(file.schema_arrow)
        for batch in file.iter_batches(batch_size=1_000):
            for row in batch.to_pylist():
                yield SchemaAndValue(schema, arrow_struct(schema, row))


FORMATS: Final[Mapping[str, Callable[[Path, CsvOption], Rows]]] = {
    "csv": csv_rows, "jsonl": json_rows, "parquet": parquet_rows, "text": text_rows,
}  # fmt: skip


def rows_from(name: str, path: Path, start: int, option: CsvOption) -> Rows:
    """The rows of a file behind the first `start`."""
    return islice(FORMATS[name](path, option), start, None)


def _struct_of(names: list[str]) -> Schema:
    fields: Any = tuple(SchemaField(name, index, OPTIONAL_STRING) for index, name in enumerate(names))
    return Schema(Type.STRUCT, fields=fields)
