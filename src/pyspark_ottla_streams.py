"""Where Spark finds the format that `KafkaStreams` uses: see `pyspark_ottla`."""

from ottla.pipelines.streams.data_source import StreamsDataSource as DefaultSource

__all__ = ["DefaultSource"]
