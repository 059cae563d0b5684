"""The result of decoding a column: values, and the errors of rows without one."""

from typing import Any, Final, Literal, get_args

import pyarrow as pa

from ottla.base.frozen import frozen
from ottla.client.errors import SerializationError

OnError = Literal["fail", "null", "column"]
ON_ERROR: Final[tuple[OnError, ...]] = get_args(OnError)


@frozen
class ColumnResult:
    """Two columns of one length; `errors` is null where a row is good. A bad row's value is null."""

    values: Any
    errors: Any

    @property
    def first_error(self) -> str | None:
        """The first bad row, in words."""
        if self.errors.null_count == len(self.errors):
            return None
        valid = self.errors.is_valid()
        row = (valid.combine_chunks() if isinstance(valid, pa.ChunkedArray) else valid).index(True).as_py()
        return f"row {row}: {self.errors[row].as_py()}"

    def settled(self, on_error: OnError) -> Any:
        """The values; `fail` raises for a bad row, `column` gives structs of `value` and `error`."""
        if on_error not in ON_ERROR:
            raise ValueError(f"on_error is {', '.join(ON_ERROR)}, not {on_error!r}")
        first = self.first_error if on_error == "fail" else None
        if first is not None:
            raise SerializationError(first)
        if on_error == "column":
            return pa.StructArray.from_arrays([self.values, self.errors], ["value", "error"])
        return self.values


def error_column(rows: int, errors: dict[int, str]) -> Any:
    """The errors by their rows."""
    if not errors:
        return pa.nulls(rows, pa.string())
    texts: list[str | None] = [None] * rows
    for row, text in errors.items():
        texts[row] = text
    return pa.array(texts, pa.string())
