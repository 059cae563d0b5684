"""Columns as JSON texts: what `json_writer` writes for each value, with one look at the whole where that is enough."""

import json.encoder
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, cast

from ottla.connect.converter.json_writer import Write, WriteOption, has_escapes, quoted, writer
from ottla.connect.data.column import Column, StructColumn
from ottla.connect.data.logical import DECIMAL, MOMENTS, TIMESTAMP, Instant
from ottla.connect.data.schema import Schema
from ottla.connect.data.type import BITS, Type

ColumnWrite = Callable[[Column], Sequence[str]]
_ListWrite = Callable[[Sequence[Any]], Sequence[str]]
_NESTED_MAX: Final = 64
_ENCODABLE: Final = frozenset((dict, list, str, int, bool, float, type(None)))


def column_writer(schema: Schema | None, option: WriteOption) -> ColumnWrite:
    """The function that writes columns of a schema."""
    if schema is None:
        bare = writer(None, option)
        return lambda column: _bare_texts(column.rows(), bare)
    if schema.type is not Type.STRUCT:
        write = _list_writer(schema, option)
        return lambda column: write(column.rows())
    whole = writer(schema, option)
    fields = [_list_writer(field.schema, option) for field in schema.fields]
    heads = [f"{quoted(field.name)}:".replace("%", "%%") for field in schema.fields]
    form = f"{{{','.join(f'{head}%s' for head in heads)}}}"

    def write_structs(column: Column) -> Sequence[str]:
        if not isinstance(column, StructColumn) or not fields:
            return list(map(whole, column.rows()))
        parts = [write(values) for write, values in zip(fields, column.columns, strict=True)]
        return list(map(form.__mod__, zip(*parts, strict=True)))

    return write_structs


def _list_writer(schema: Schema, option: WriteOption) -> _ListWrite:
    """The function that writes the values of one field."""
    each = writer(schema, option)
    kind, fast = _fast_writer(schema)
    if kind is None:
        return lambda values: list(map(each, values))

    def write(values: Sequence[Any]) -> Sequence[str]:
        found = fast(values) if set(map(type, values)) == {kind} else None
        return list(map(each, values)) if found is None else found

    return write


def _fast_writer(schema: Schema) -> tuple[type | None, Callable[[Any], Sequence[str] | None]]:
    """A function for columns of values of a class alone; it may still return None."""
    if schema.name == TIMESTAMP:
        return Instant, lambda values: [str(value.ms) for value in values]
    if schema.name == DECIMAL or schema.name in MOMENTS:
        return None, _texts
    if schema.type in BITS:
        return int, lambda values: list(map(str, values))
    if schema.type is Type.STRING:
        return str, _texts
    if schema.type is Type.FLOAT64:
        return float, lambda values: list(map(repr, values)) if _has_plain_floats(values) else None
    return None, _texts


def _texts(values: Sequence[str]) -> Sequence[str]:
    made: list[str] = list(map(json.encoder.encode_basestring, values))
    return list(map(quoted, values)) if has_escapes("".join(made)) else made


def _has_plain_floats(values: Iterable[float]) -> bool:
    """Whether Java prints all of these numbers as Python does."""
    sizes = list(map(abs, values))
    return math.isfinite(sum(sizes)) and max(sizes) < 1e7 and min(sizes) >= 1e-3


def _bare_texts(rows: Sequence[object], bare: Write) -> Sequence[str]:
    if _ENCODE is None or not _is_encodable(rows):
        return list(map(bare, rows))
    encode = _ENCODE
    made = ["".join(encode(row, 0)) for row in rows]
    return list(map(bare, rows)) if has_escapes("".join(made)) else made


def _is_encodable(rows: Sequence[object]) -> bool:
    """Whether Python's own encoder writes all of these values as Kafka's does."""
    level: Sequence[object] = rows
    for _ in range(_NESTED_MAX):
        kinds = set(map(type, level))
        if not kinds <= _ENCODABLE:
            return False
        if float in kinds and not _has_plain_floats([value for value in level if type(value) is float]):
            return False
        below: list[object] = []
        if dict in kinds:
            maps = [value for value in level if type(value) is dict]
            if not set(map(type, chain.from_iterable(maps))) <= {str}:
                return False
            below += chain.from_iterable(map(dict.values, maps))
        if list in kinds:
            below += chain.from_iterable(value for value in level if type(value) is list)
        if not below:
            return True
        level = below
    return False


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value)} is not JSON")


def _encoder() -> Callable[[object, int], Sequence[str]] | None:
    """Python's compiled encoder; its own wrapper makes a new one for every value."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return None
    made = make(None, _refuse, json.encoder.encode_basestring, None, ":", ",", False, False, False)
    return cast("Callable[[object, int], Sequence[str]]", made)


_ENCODE: Final = _encoder()
