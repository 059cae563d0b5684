"""The Arrow types that Spark takes from Python, for those that a schema has.

Fixed-size binaries are binary, times of day are int and bigint as in Spark's own `from_avro`, timestamps have
microseconds, decimals of more than 38 digits are text. Unsigned integers are the next wider type: bigint, decimal(20).
"""

from typing import Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType

_DIGITS_MAX: Final = 38
_UINT64_DIGITS: Final = 20


def arrow_type(kind: Any) -> Any:
    """The Spark type of a column of that type."""
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, arrow_type(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(arrow_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, arrow_type(kind.item_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time32(kind):
        return pa.int32()
    if pa.types.is_time64(kind):
        return pa.int64()
    if pa.types.is_uint32(kind):
        return pa.int64()
    if pa.types.is_uint64(kind):
        return pa.decimal128(_UINT64_DIGITS, 0)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_null(kind) or (pa.types.is_decimal(kind) and kind.precision > _DIGITS_MAX):
        return pa.string()
    return kind


def spark_type(kind: Any) -> DataType:
    """Spark's type for a column of that Arrow type."""
    return from_arrow_type(arrow_type(kind))


def for_spark(array: Any) -> Any:
    """The column as Spark takes it."""
    wanted = arrow_type(array.type)
    return array if wanted == array.type else array.cast(wanted, safe=False)
