"""The part of the inputs that one task of Spark reads: partition p of every topic, as the driver has planned it."""

from typing import Final

from pyspark.sql.datasource import InputPartition

from ottla.pipelines.source.range_read import RangePartition


class TaskPartition(InputPartition):
    """The inputs of one partition number; `start` and `end` are their positions, by topic."""

    def __init__(self, number: int, ranges: list[RangePartition], ends: tuple[dict[str, int], dict[str, int]]) -> None:
        super().__init__(number)
        self.number: Final = number
        self.ranges: Final = ranges
        self.start, self.end = ends
