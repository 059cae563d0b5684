"""Fetched batches as Arrow columns, without a Python object per record.

`headers` is a list of (key, value) structs.
Needs pyarrow (`pip install ottla[arrow]`).
"""

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa

from ottla.client.consumer.fetch.completed_fetch import CompletedFetch
from ottla.client.record import TopicPartition
from ottla.protocol.records.arrow.batches import Projection, decode
from ottla.protocol.records.reader import ReadOptions

_SHARED: Final = frozenset({"topic", "partition"})
_NAMES: Final = {"timestampType": "timestamp_type"}
_TYPES: Final = {"topic": pa.string(), "partition": pa.int32()}
_KEPT_ROWS_MAX: Final = 1_000_000
_KEPT_COLUMNS_MAX: Final = 32
"""Long columns of one value cost a fifth of all the reading, so some are kept."""


class ArrowReader:
    """Reads the columns that were asked for.

    >>> ArrowReader(("topic", "offset", "value")).schema.names
    ['topic', 'offset', 'value']
    """

    def __init__(self, columns: Sequence[str]) -> None:
        """`columns` are some of `arrow_columns.COLUMNS`, each at most once."""
        self.columns: Final = tuple(columns)
        read = tuple(_NAMES.get(name, name) for name in columns if name not in _SHARED)
        # With none to read the rows have to be counted all the same.
        self._projection: Final = Projection(read or ("offset",))
        kinds = {**_TYPES, **dict(self._projection.fields)}
        self._columns: Final[dict[tuple[str, object], Any]] = {}
        self.schema: Final = pa.schema([(name, kinds[_NAMES.get(name, name)]) for name in columns])

    def read(self, fetched: CompletedFetch, *, check_crcs: bool) -> Any:
        """All records that are left in a fetch."""
        options = ReadOptions(from_offset=fetched.position.offset, check_crcs=check_crcs)
        found = self.decoded(fetched.take_data(), fetched.state.partition, options)
        fetched.finish()
        return found

    def decoded(self, pieces: Sequence[memoryview], partition: TopicPartition, options: ReadOptions) -> Any:
        """The records of some batches of a partition."""
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        batch = decode(data, self._projection, options)
        shared = partition._asdict()
        arrays = [
            self._repeated(name, shared[name], batch.num_rows)
            if name in shared
            else batch.column(_NAMES.get(name, name))
            for name in self.columns
        ]
        return pa.record_batch(arrays, schema=self.schema)

    def _repeated(self, name: str, value: object, rows: int) -> Any:
        """A column with the same value in each row: part of one that was made before, if that is long enough."""
        found = self._columns.get((name, value))
        if found is None or len(found) < rows:
            found = pa.repeat(pa.scalar(value, _TYPES[name]), rows)
            if rows <= _KEPT_ROWS_MAX:
                while len(self._columns) >= _KEPT_COLUMNS_MAX:
                    self._columns.pop(next(iter(self._columns), ("", "")), None)
                self._columns[name, value] = found
        return found.slice(0, rows)
