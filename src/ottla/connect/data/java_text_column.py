"""Columns as Java's `toString` prints their values: what `java_text` writes for each, field by field where it can."""

from collections.abc import Sequence
from itertools import repeat
from operator import is_
from typing import Any

from ottla.connect.data.column import Column, MapColumn, StructColumn
from ottla.connect.data.java_text import java_text
from ottla.connect.data.schema import Schema


def java_texts(column: Column) -> Sequence[str]:
    """A text for each value.

    >>> from ottla.connect.data.column import map_column
    >>> java_texts(map_column([{"a": 1, "b": "x"}, {"a": None, "b": "100%"}]))
    ['{a=1, b=x}', '{a=null, b=100%}']
    """
    if isinstance(column, MapColumn):
        parts = [_texts(values, None) for values in column.columns]
        return _filled("{%s}", ", ", column.names, parts)
    if isinstance(column, StructColumn) and column.columns and not any(map(_has_null, column.columns)):
        fields = column.schema.fields
        parts = [_texts(values, field.schema) for field, values in zip(fields, column.columns, strict=True)]
        return _filled("Struct{%s}", ",", [field.name for field in fields], parts)
    schema = column.schema
    return [java_text(value, schema) for value in column.rows()]


def _filled(frame: str, between: str, names: Sequence[str], parts: Sequence[Sequence[str]]) -> list[str]:
    pairs = between.join(f"{name}=".replace("%", "%%") + "%s" for name in names)
    form = frame.replace("%s", pairs)
    return list(map(form.__mod__, zip(*parts, strict=True)))


def _has_null(values: Sequence[object]) -> bool:
    # A struct's text leaves out what is null.
    return any(map(is_, values, repeat(None)))


def _texts(values: Sequence[Any], schema: Schema | None) -> Sequence[str]:
    kinds = set(map(type, values))
    if kinds == {str}:
        return values
    if kinds == {int}:
        return list(map(str, values))
    return [java_text(value, schema) for value in values]
