"""The kind `connect`: one connector, whose tasks are the partitions of one query.

The query's micro-batches are shifts of the tasks: each task has a slot of Spark until the connector stops, or until
others wait for slots (`crowd`). Data never passes the driver. What is told of tasks comes from the board, not from
Spark.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from ottla.pipelines.connect.board import Board
from ottla.pipelines.connect.definition import read_definition
from ottla.pipelines.connect.query import ConnectorQuery
from ottla.pipelines.connect.topic_maker import ensure_offset_topic
from ottla.pipelines.runner.kind import Place

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_ANY: Mapping[str, str] = {"bootstrap.servers": "the runner's"}


class ConnectorKind:
    """Runs connectors."""

    def check(self, definition: Mapping[str, Any]) -> None:
        """Raises `InvalidDefinitionError` for what can't work."""
        read_definition(str(definition.get("config", {}).get("name", "connector")), definition, _ANY)

    def start(self, spark: "SparkSession", place: Place) -> "StreamingQuery":
        """Starts the query."""
        from ottla.pipelines.connect.task_source import TaskSource

        definition = read_definition(place.name, place.definition, {**place.cluster, **place.secrets})
        if not definition.is_sink:
            ensure_offset_topic(definition.resolved())
        spark.dataSource.register(TaskSource)
        host = spark.sparkContext.getConf().get("spark.driver.host", "127.0.0.1")
        board = Board(definition.jobs(str(place.checkpoint)), host or "127.0.0.1", place.part_restarts)
        try:
            query = (
                spark.readStream.format("ottla-connect-task")
                .options(**board.options)
                .load()
                .writeStream.format("noop")
                .queryName(place.name)
                .option("checkpointLocation", str(place.checkpoint))
                .trigger(processingTime=place.trigger)
                .start()
            )
        except BaseException:
            board.close()
            raise
        hosted = ConnectorQuery(query, board, spark.sparkContext.defaultParallelism)
        return cast("StreamingQuery", hosted)
