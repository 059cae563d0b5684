"""The values of DeleteRecords over several partitions."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

HIGH_WATERMARK: Final = -1
"""The offset that stands for the high watermark."""


class DeleteRecordsEntry(NamedTuple):
    """Everything before the offset is to go."""

    topic: str
    partition: int
    offset: int


class DeleteRecordsResult(NamedTuple):
    """The lowest log start of the live replicas; -1 with an error."""

    topic: str
    partition: int
    error_code: int
    low_watermark: int = -1


DeleteRecordsDone: TypeAlias = Callable[[Sequence[DeleteRecordsResult]], None]
"""Called once, on the loop's thread, with a result for each partition in the order of the entries."""
