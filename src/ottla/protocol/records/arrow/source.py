"""Arrow columns as the raw buffers that a `ColumnWriter` takes.

Nothing is copied where the type is one that the writer reads: binary and string, plain or large, with any slice and any
nulls. Other types are cast first. What has no meaning as a record's field is refused with `EncodeError`. So are arrays
whose buffers are too short or point outside each other: by the writer, or here before pyarrow follows them.
"""

from typing import Any

import pyarrow as pa
from pyarrow.compute import CastOptions

from ottla.protocol.errors import EncodeError
from ottla.protocol.records.columns_layout import (
    SHORT_BUFFER,
    BinarySource,
    HeaderSource,
    LongSource,
    Source,
)

HEADER: Any = pa.struct([("key", pa.string()), ("value", pa.binary())])
HEADERS: Any = pa.list_(HEADER)

_FIELDS = frozenset({"value", "key", "headers", "timestamp"})
_OFFSET_BYTES = {pa.binary(): 4, pa.string(): 4, pa.large_binary(): 8, pa.large_string(): 8}
_MILLISECONDS: Any = pa.timestamp("ms")
_INT64_BOUND = 2**63


def source_of(records: Any, default_timestamp: int) -> Source:
    """The columns `value`, `key`, `headers` and `timestamp` of a record batch; all but the first may be missing."""
    if not isinstance(records, pa.RecordBatch):
        raise EncodeError(f"a pyarrow.RecordBatch is needed, not {type(records).__name__}")
    if not isinstance(default_timestamp, int) or not -_INT64_BOUND <= default_timestamp < _INT64_BOUND:
        raise EncodeError(f"{default_timestamp!r} is not a 64-bit integer", path="default_timestamp")
    names = records.schema.names
    for name in _FIELDS:
        if names.count(name) > 1:
            raise EncodeError("two columns of this name", path=name)
    if "value" not in names:
        raise EncodeError("there is no such column", path="value")
    return Source(
        rows=records.num_rows,
        value=_binary(records.column("value"), "value"),
        key=_binary(records.column("key"), "key") if "key" in names else None,
        headers=_headers(records.column("headers")) if "headers" in names else None,
        timestamp=_timestamps(records.column("timestamp")) if "timestamp" in names else None,
        default_timestamp=default_timestamp,
    )


def _binary(array: Any, path: str) -> BinarySource:
    if array.type not in _OFFSET_BYTES:
        if pa.types.is_dictionary(array.type):
            array = _sound(array, path).dictionary_decode()
        if not _is_binary(array.type):
            raise EncodeError(f"{array.type} is not bytes", path=path)
        array = _cast(array, pa.large_binary(), path)
    validity, offsets, data = array.buffers()
    return BinarySource(
        first=array.offset,
        validity=_validity(array, validity),
        offsets=b"" if offsets is None else offsets,
        data=b"" if data is None else data,
        width=_OFFSET_BYTES[array.type],
    )


def _is_binary(kind: Any) -> bool:
    types = pa.types
    return (
        kind in _OFFSET_BYTES
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
        or types.is_string_view(kind)
        or types.is_null(kind)
    )


def _headers(array: Any) -> HeaderSource | None:
    if pa.types.is_null(array.type):
        return None
    array = _cast(array, HEADERS, "headers")
    try:
        # The lengths of the buffers, which pyarrow takes for granted when it takes the structs apart.
        array.validate()
    except pa.ArrowInvalid as error:
        raise EncodeError(str(error), path="headers") from None
    validity, offsets = array.buffers()[:2]
    # Flattening gives both fields of a null header as null, so that it is refused for want of a key.
    keys, values = array.values.flatten()
    return HeaderSource(
        first=array.offset,
        validity=_validity(array, validity),
        offsets=b"" if offsets is None else offsets,
        pairs=len(keys),
        keys=_binary(keys, "headers"),
        values=_binary(values, "headers"),
    )


def _timestamps(array: Any) -> LongSource | None:
    kind = array.type
    if pa.types.is_null(kind):
        return None
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        array = _cast(array, pa.timestamp("ms", kind.tz) if pa.types.is_timestamp(kind) else _MILLISECONDS, "timestamp")
    elif pa.types.is_integer(kind):
        array = _cast(array, pa.int64(), "timestamp")
    else:
        raise EncodeError(f"{kind} is not a time", path="timestamp")
    validity, values = array.buffers()
    return LongSource(array.offset, _validity(array, validity), b"" if values is None else values)


def _validity(array: Any, validity: Any) -> Any:
    """The validity bitmap where it says that something is null; pyarrow counts nulls without looking at its length."""
    if validity is not None and validity.size < (array.offset + len(array) + 7) // 8:
        raise EncodeError(SHORT_BUFFER)
    return validity if array.null_count else None


def _sound(array: Any, path: str) -> Any:
    """The array, if pyarrow can follow its offsets and indices without leaving its buffers."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise EncodeError(str(error), path=path) from None
    return array


def _cast(array: Any, kind: Any, path: str) -> Any:
    """The array as another type; times may lose what a millisecond cannot hold, and nothing may overflow."""
    if array.type == kind:
        return array
    try:
        return _sound(array, path).cast(options=CastOptions(kind, allow_time_truncate=True))
    except pa.ArrowException as error:
        raise EncodeError(f"{array.type} cannot become {kind}: {error}", path=path) from None
