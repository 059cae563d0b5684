"""Where Spark finds `format("ottla")`: it looks into every top-level module `pyspark_*` for a `DefaultSource`."""

from ottla.pipelines.source.data_source import OttlaDataSource as DefaultSource

__all__ = ["DefaultSource"]
