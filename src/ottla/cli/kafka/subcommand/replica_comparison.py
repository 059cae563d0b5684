"""Compares what the replicas of partitions hold, batch by batch, up to the high watermark.

Pure: the fetcher hands in what each replica answered. A partition goes on at the first batch that not all of its
replicas had: replicas with [0,4][5,9] and [0,4] → the next fetch begins at 5.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ottla.cli.kafka.argument.option import ToolError
from ottla.client.record import TopicPartition


class ReplicaBatch(NamedTuple):
    """A batch as one replica holds it."""

    last_offset: int
    checksum: int


class ReplicaAnswer(NamedTuple):
    """What one replica answered; -1 and nothing if it did not."""

    high_watermark: int
    batches: Sequence[ReplicaBatch]


NO_ANSWER: Final = ReplicaAnswer(-1, ())


class OffsetMismatchError(ToolError):
    """Two replicas have batches that end at different offsets: from here on nothing can be compared."""


class ReplicaComparison:
    """Where the comparison of each partition is, and how far the furthest one is behind."""

    def __init__(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.offsets: Final = dict(offsets)
        """The next offset to compare."""
        self._lag: tuple[int, TopicPartition | None, int] = (-1, None, 0)

    def begin_round(self) -> None:
        """Forgets the lag of the last round."""
        self._lag = (-1, None, 0)

    def compare(self, partition: TopicPartition, answers: Mapping[int, ReplicaAnswer]) -> list[str]:
        """What differs in one partition, in Kafka's words; `OffsetMismatchError` for offsets that differ."""
        differences: list[str] = []
        for row in _rows(answers):
            (first_replica, first), *others = row
            for replica, batch in others:
                if batch.last_offset != first.last_offset:
                    raise OffsetMismatchError(
                        f"partition {partition}: replica {first_replica}'s offset {first.last_offset} doesn't match "
                        f"replica {replica}'s offset {batch.last_offset}"
                    )
                if batch.checksum != first.checksum:
                    differences.append(
                        f"partition {partition} has unmatched checksum at offset {batch.last_offset}; "
                        f"replica {first_replica}'s checksum {first.checksum}; "
                        f"replica {replica}'s checksum {batch.checksum}"
                    )
            self.offsets[partition] = first.last_offset + 1
        self._note_lag(partition, max(answer.high_watermark for answer in answers.values()))
        return differences

    def _note_lag(self, partition: TopicPartition, high_watermark: int) -> None:
        offset = self.offsets[partition]
        if high_watermark - offset > self._lag[0]:
            self._lag = (high_watermark - offset, partition, offset)

    def report(self) -> str:
        """How far the furthest partition is behind its high watermark."""
        lag, partition, offset = self._lag
        shown = "null" if partition is None else str(partition)
        return f"max lag is {lag} for partition {shown} at offset {offset} among {len(self.offsets)} partitions"


def _rows(answers: Mapping[int, ReplicaAnswer]) -> list[list[tuple[int, ReplicaBatch]]]:
    """The first, second, ... batches of all replicas side by side, as far as all have them below their watermarks."""
    columns = [
        [(replica, batch) for batch in answer.batches if batch.last_offset < answer.high_watermark]
        for replica, answer in answers.items()
    ]
    return [list(row) for row in zip(*columns, strict=False)]
