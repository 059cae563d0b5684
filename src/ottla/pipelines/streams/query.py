"""The one query of an application: its options, and how it is started."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.streams.clock import tick_ms_of
from ottla.pipelines.streams.option import APPLICATION, FORMAT, PARTITIONS, TICK_MS
from ottla.pipelines.streams.setting import StreamsSettings
from ottla.pipelines.streams.shipment import Shipment, SnapshotTerms
from ottla.pipelines.streams.task_output import check_writer
from ottla.pipelines.streams.topic_setup import TopicSetup
from ottla.streams.engine.topology import Topology
from ottla.streams.host.application import Application

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class ApplicationQuery:
    """Starts the query, as often as need be: the cluster is looked at each time."""

    def __init__(self, topology: Topology, config: Mapping[str, Any], settings: StreamsSettings) -> None:
        self._setup: Final = TopicSetup(topology, config, settings)
        self._settings: Final = settings
        self.application: Application | None = None

    def start(self, spark: "SparkSession", trigger: str | None = None) -> "StreamingQuery":
        """Prepares the topics and starts it."""
        settings = self._settings
        check_writer(settings.writer, is_exactly_once=settings.is_exactly_once)
        application, start = self._setup.prepare()
        self.application = application
        shipment = Shipment(
            application,
            self._settings.state_dir / "state",
            self._settings.is_exactly_once,
            self._settings.writer,
            tick_ms_of(application),
            self._snapshots(),
        )
        options = self._options(shipment)
        rows = spark.readStream.format(FORMAT).options(**options, **self._read_options(application, start)).load()
        return (
            rows.writeStream.format("noop")
            .option("checkpointLocation", str(self._settings.checkpoint))
            .queryName(self._settings.application_id)
            .trigger(processingTime=trigger or f"{self._settings.trigger_interval_ms} milliseconds")
            .start()
        )

    def check(self) -> None:
        """While it runs: an error if something is wrong on the cluster that the query itself would not notice."""
        if self.application is not None:
            self._setup.check(self.application)

    def _snapshots(self) -> SnapshotTerms | None:
        directory = self._settings.snapshot_dir
        return None if directory is None else SnapshotTerms(directory, self._settings.snapshot_interval_ms)

    def _options(self, shipment: Shipment) -> dict[str, str]:
        return {
            APPLICATION: shipment.packed(),
            PARTITIONS: str(shipment.application.partitions),
            TICK_MS: str(shipment.tick_ms or 0),
        }

    def _read_options(self, application: Application, start: str) -> dict[str, str]:
        settings = self._settings
        options = {
            "subscribe": ",".join(application.inputs),
            "startingOffsets": start,
            "includeHeaders": "true",
            "isolation.level": "read_committed" if settings.is_exactly_once else "read_uncommitted",
            **_kafka(settings.reader),
        }
        if settings.offsets_per_trigger_max:
            options["maxOffsetsPerTrigger"] = str(settings.offsets_per_trigger_max)
        if not settings.is_exactly_once:
            options["group.id"] = settings.application_id
        return options


def _kafka(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in settings.items()}
