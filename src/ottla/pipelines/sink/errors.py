"""The sink's own errors; refusals of brokers keep their classes."""

from ottla.base.errors import OttlaError


class SinkError(OttlaError):
    """Rows that can't be written; the text names the column, the row's topic or the batch."""


class SinkSchemaError(SinkError, ValueError):
    """A data frame whose columns are not those of records; `column` is the one that is wrong or missing.

    >>> print(SinkSchemaError("value", "there has to be one"))
    column 'value': there has to be one
    """

    def __init__(self, column: str, reason: str) -> None:
        super().__init__(f"column {column!r}: {reason}")
        self.column = column
        self.reason = reason

    def __reduce__(self) -> tuple[type["SinkSchemaError"], tuple[str, str]]:
        # Spark carries it from one process to another.
        return type(self), (self.column, self.reason)
