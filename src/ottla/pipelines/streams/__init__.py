"""Streams on Spark: `KafkaStreams` runs a topology as one query, with its state on local disks and in changelogs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.pipelines.streams.kafka_streams import KafkaStreams as KafkaStreams
    from ottla.pipelines.streams.run_state import RunState as RunState


def __getattr__(name: str) -> object:
    """Loads what users import: Spark's own processes import this package for one module of it."""
    if name == "KafkaStreams":
        from ottla.pipelines.streams.kafka_streams import KafkaStreams

        return KafkaStreams
    if name == "RunState":
        from ottla.pipelines.streams.run_state import RunState

        return RunState
    raise AttributeError(name)
