"""The values of many records at once, for chains of transforms and converters that work on columns.

A column is a shortcut, never an authority: whatever is unusual about its values raises `RowsNeededError`, or the error
that a row would have raised, and the caller goes the way of rows, which finds the record and says what Kafka says.
"""

from collections.abc import Sequence
from itertools import repeat
from operator import is_, itemgetter
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.data.logical import MOMENTS, Instant
from ottla.connect.data.schema import Schema
from ottla.connect.data.struct import Struct, checked, struct_of
from ottla.connect.data.type import BITS, Type, fits

_BETWEEN: Final = "\0"


class RowsNeededError(Exception):
    """These values are not for columns."""


@frozen
class PlainColumn:
    """Values of a schema that is no struct's, or values without schema."""

    schema: Schema | None
    values: Sequence[object]

    def __len__(self) -> int:
        return len(self.values)

    def rows(self) -> Sequence[object]:
        """The values."""
        return self.values


@frozen
class StructColumn:
    """Structs without a null among them: the values of each field, in the order of the schema.

    A field that is required and has no default has no null. Structs inside are values.
    """

    schema: Schema
    columns: Sequence[Sequence[object]]
    count: int

    def __len__(self) -> int:
        return self.count

    def rows(self) -> Sequence[object]:
        """The structs."""
        schema = self.schema
        if not self.columns:
            return [struct_of(schema, []) for _ in range(self.count)]
        return [struct_of(schema, list(values)) for values in zip(*self.columns, strict=True)]

    def filled(self, *, replace_null: bool) -> list[Sequence[object]]:
        """The columns as transforms read them: the default in the place of a null, if asked for."""
        fields = zip(self.schema.fields, self.columns, strict=True)
        return [
            _filled(field.schema, each) if replace_null else _unfilled(field.schema, each) for field, each in fields
        ]


@frozen
class MapColumn:
    """Maps without schema that have the same keys in the same order: the values of each key."""

    names: tuple[str, ...]
    columns: Sequence[Sequence[object]]
    count: int
    schema: None = None

    def __len__(self) -> int:
        return self.count

    @property
    def values(self) -> Sequence[object]:
        """As `rows`."""
        return self.rows()

    def rows(self) -> Sequence[object]:
        """The maps."""
        names = self.names
        return [dict(zip(names, row, strict=True)) for row in zip(*self.columns, strict=True)]


Column = PlainColumn | StructColumn | MapColumn


def map_column(values: Sequence[object]) -> MapColumn | None:
    """The values as a column of maps; None where they are something else, or have other keys.

    >>> map_column([{"a": 1, "b": 2}, {"a": 3, "b": 4}]).columns
    [[1, 3], [2, 4]]
    >>> map_column([{"a": 1, "b": 2}, {"b": 3, "a": 4}])
    """
    maps = [value for value in values if type(value) is dict]
    names = tuple(maps[0]) if len(maps) == len(values) and maps else ()
    if not names or set(map(type, names)) != {str} or set(map(len, maps)) != {len(names)}:
        return None
    # Maps of one key have no order.
    if len(names) > 1 and (any(_BETWEEN in name for name in names) or len(set(map(_BETWEEN.join, maps))) > 1):
        return None
    try:
        return MapColumn(names, [list(map(itemgetter(name), maps)) for name in names], len(maps))
    except KeyError:
        return None


def column_of(schema: Schema | None, values: Sequence[object]) -> Column:
    """Values of one schema as a column.

    >>> from ottla.connect.data.builder import struct
    >>> from ottla.connect.data.schema import INT32
    >>> pair = struct({"a": INT32, "b": INT32})
    >>> column_of(pair, [Struct(pair, {"a": 1, "b": 2}), Struct(pair, {"a": 3, "b": 4})]).columns
    [[1, 3], [2, 4]]
    """
    if schema is None or schema.type is not Type.STRUCT:
        return PlainColumn(schema, values)
    for value in values:
        if type(value) is not Struct or (value.schema is not schema and value.schema != schema):
            raise RowsNeededError
    rows = [value.values for value in values if type(value) is Struct]
    columns = [list(each) for each in zip(*rows, strict=True)]
    for field, found in zip(schema.fields, columns, strict=True):
        # What was put was checked, but a required field may never have been put.
        if field.schema.default is None:
            present(field.schema, found)
    return StructColumn(schema, columns, len(values))


def present(schema: Schema, values: Sequence[object]) -> Sequence[object]:
    """The values; `RowsNeededError` if one is missing that must be there."""
    if not schema.optional and any(map(is_, values, repeat(None))):
        raise RowsNeededError
    return values


def checked_all(schema: Schema, values: Sequence[object]) -> Sequence[object]:
    """The values as structs keep them; what `checked` raises if one is wrong."""
    kinds = set(map(type, values))
    if schema.optional:
        kinds.discard(type(None))
    if schema.name is None:
        if kinds <= {_CLASSES.get(schema.type)}:
            return values
        if schema.type in BITS and kinds == {int} and not schema.optional:
            whole = [value for value in values if isinstance(value, int)]
            if fits(schema.type, min(whole)) and fits(schema.type, max(whole)):
                return values
    elif schema.name in MOMENTS and kinds <= {Instant}:
        return values
    return [checked(schema, value) for value in values]


_CLASSES: Final[dict[Type, type]] = {Type.STRING: str, Type.BOOLEAN: bool, Type.FLOAT64: float, Type.BYTES: bytes}


def _filled(schema: Schema, values: Sequence[object]) -> Sequence[object]:
    default = schema.default
    return values if default is None else [default if value is None else value for value in values]


def _unfilled(schema: Schema, values: Sequence[object]) -> Sequence[object]:
    """A null is put as it is, which a field with a default refuses unless it is optional."""
    return values if schema.default is None else present(schema, values)
