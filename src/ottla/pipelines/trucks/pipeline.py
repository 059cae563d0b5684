"""The three queries between the topics of the trucks.

    truck_position ─▶ dangerous_driving ─▶ dangerous_driving_and_driver ─▶ dangerous_driving_counts

Each reads one topic and writes the next, so every step can be looked at with any Kafka tool, and each commits what it
has read to a group of its own: lag is visible everywhere. Checkpoints lie below one directory; a run goes on where the
one before it stopped.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.base.frozen import frozen
from ottla.pipelines.supervised_query import SupervisedQuery
from ottla.pipelines.trucks.transform import DRIVEN, counts, dangerous, parsed, to_records, with_driver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

POSITIONS: Final = "truck_position"
DANGEROUS: Final = "dangerous_driving"
DRIVEN_TOPIC: Final = "dangerous_driving_and_driver"
COUNTS: Final = "dangerous_driving_counts"
Transform = Callable[["DataFrame"], "DataFrame"]
TOPICS: Final = (POSITIONS, DANGEROUS, DRIVEN_TOPIC, COUNTS)


@frozen(kw_only=True)
class TruckPipeline:
    """The settings of the pipeline."""

    bootstrap: str
    checkpoints: Path
    window: str = "10 seconds"
    late: str = "5 seconds"
    trigger: Mapping[str, str | bool] | None = None
    """The argument of `DataStreamWriter.trigger`; None starts the next batch at once."""
    exactly_once: bool = False

    def queries(self, spark: "SparkSession", drivers: "DataFrame") -> dict[str, SupervisedQuery]:
        """The queries by the topic that they write, not started yet; best started one after the other."""
        steps: dict[str, tuple[str, Transform]] = {
            DANGEROUS: (POSITIONS, lambda rows: to_records(dangerous(parsed(rows)), "truckId")),
            DRIVEN_TOPIC: (DANGEROUS, lambda rows: to_records(with_driver(parsed(rows), drivers), "driverId")),
            COUNTS: (DRIVEN_TOPIC, lambda rows: to_records(self._counts(rows), "driverId")),
        }
        return {
            target: SupervisedQuery(functools.partial(self._start, spark, source, target, transform))
            for target, (source, transform) in steps.items()
        }

    def _counts(self, records: "DataFrame") -> "DataFrame":
        return counts(parsed(records, DRIVEN), window=self.window, late=self.late)

    def group(self, topic: str) -> str:
        """The group that shows how far the query which writes `topic` has read."""
        return f"trucks-{topic}"

    def _start(self, spark: "SparkSession", source: str, target: str, transform: "Transform") -> "StreamingQuery":
        records = (
            spark.readStream.format("ottla")
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("subscribe", source)
            .option("startingOffsets", "earliest")
            .option("group.id", self.group(target))
            .option("isolation.level", "read_committed")
            .load()
        )
        writer = (
            transform(records)
            .writeStream.format("ottla")
            .queryName(target)
            .option("kafka.bootstrap.servers", self.bootstrap)
            .option("topic", target)
            .option("exactlyOnce", str(self.exactly_once).lower())
            .option("checkpointLocation", str(self.checkpoints / target))
            .outputMode("append")
        )
        if self.trigger is not None:
            writer = writer.trigger(**self.trigger)  # type: ignore[arg-type]
        return writer.start()
