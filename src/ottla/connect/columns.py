"""Records as columns of Arrow, for tasks with nothing to do per record: no Python object is made of one.

A task offers columns beside its rows; the worker takes them where converters and transforms leave values as they are
(`RecordPipeline.passes`), and rows in every other case. Both ways give the same records and offsets.
"""

import enum
from collections.abc import Mapping
from typing import Any

from ottla.base.frozen import frozen


class ColumnKind(enum.Enum):
    """The type of a column's values."""

    STRING = "string"
    """Text without a null, `pyarrow.string()`; it is UTF-8 in a topic."""
    BYTES = "bytes"
    """`pyarrow.binary()`."""


@frozen(kw_only=True)
class SourceColumns:
    """Some records of one partition of a source, in order."""

    topic: str
    values: Any
    """A `pyarrow.Array` of the kind that the task offers."""
    source_partition: Mapping[str, object] | None
    source_offset: Mapping[str, object] | None
    """Behind the last of them."""
    keys: Any = None
    """The same kind; None where no record has a key."""
    timestamps: Any = None
    """Milliseconds: a column, or one number for all records; None leaves them to the producer."""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    """Those of every record."""
