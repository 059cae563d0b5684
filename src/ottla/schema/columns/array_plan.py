"""The parts of every writing program, for any kind of schema: Arrow arrays as sources, steps and constants."""

from typing import Any, Final

import pyarrow as pa

from ottla.schema.columns.layout import Kind
from ottla.schema.columns.source import Source, Write, WriteStep
from ottla.schema.error import InvalidSchemaError

_LEVELS_MAX: Final = 100


class UnfitColumnError(ValueError):
    """A column that can't be written by the schema at all."""


class ArrayPlan:
    """The sources and steps for one array; `paths` names the sources for messages."""

    def __init__(self) -> None:
        self.sources: Final[list[Source]] = []
        self.steps: Final[list[WriteStep]] = []
        self.blob: Final = bytearray()
        self.paths: Final[list[str]] = []
        self.depth = 0

    def reserve(self) -> int:
        """Reserves the number of a step that is made after its parts."""
        self.steps.append(WriteStep(Write.NOTHING, 0))
        return len(self.steps) - 1

    def enter(self) -> None:
        """Counts one level of nesting; raises `InvalidSchemaError` beyond the limit."""
        self.depth += 1
        if self.depth > _LEVELS_MAX:
            raise InvalidSchemaError(f"the schema is nested deeper than {_LEVELS_MAX}")

    def add(self, kind: Kind, array: Any, path: str, width: int = 0) -> int:
        """Adds an array as a source; its number."""
        buffers = array.buffers()
        validity, rest = buffers[0], buffers[1:]
        offsets = rest.pop(0) if kind in (Kind.BYTES, Kind.LIST) else None
        data = rest.pop(0) if kind in (Kind.BYTES, Kind.FIXED, Kind.BIT) else None
        self.sources.append(Source(kind, width, array.offset, len(array), *map(_view, (validity, offsets, data))))
        self.paths.append(path)
        return len(self.sources) - 1

    def add_length(self, array: Any) -> int:
        """Adds a source without values, which only has a number of rows; its number."""
        self.sources.append(Source(Kind.NOTHING, 0, 0, len(array), None, None, None))
        self.paths.append("")
        return len(self.sources) - 1

    def constant(self, source: int, data: bytes) -> int:
        """Adds a step that writes these bytes; its number."""
        self.blob.extend(data)
        self.steps.append(WriteStep(Write.CONSTANT, source, len(self.blob) - len(data), len(data)))
        return len(self.steps) - 1


def converted(array: Any, wanted: Any, path: str) -> Any:
    """The array as one of another type, where nothing is lost."""
    if isinstance(array.type, pa.DictionaryType):
        array = array.dictionary_decode()
    if array.type == wanted:
        return array
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), wanted)
    try:
        return array.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UnfitColumnError(f"{in_column(path)}{array.type} can't be written as {wanted}: {reason}") from None


def as_list(array: Any) -> Any | None:
    """The array as a list with 32-bit offsets; None if it is no list."""
    kind = array.type
    if pa.types.is_null(kind):
        return pa.nulls(len(array), pa.list_(pa.null()))
    if pa.types.is_large_list(kind) or pa.types.is_list_view(kind) or pa.types.is_fixed_size_list(kind):
        return array.cast(pa.list_(kind.value_type))
    return array if pa.types.is_list(kind) else None


def as_map(array: Any) -> Any | None:
    """The array as a map; None if it is none."""
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.map_(pa.string(), pa.null()))
    return array if pa.types.is_map(array.type) else None


def unfit(array: Any, label: str, path: str) -> UnfitColumnError:
    """That an array is of another kind than the schema."""
    return UnfitColumnError(f"{in_column(path)}{array.type} can't be written as {label}")


def in_column(path: str) -> str:
    """A column for messages."""
    return f"column {path[1:]}: " if path else ""


def _view(buffer: Any) -> Any:
    return None if buffer is None else memoryview(buffer)
