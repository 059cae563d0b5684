"""`format("ottla_streams")`: reads the inputs of an application, and writes what its tasks make of them.

All of it happens inside of the read: a task of Spark fetches, computes and writes in one process. Spark itself sees
a row for each record, to count them. `KafkaStreams` is the only user.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import BooleanType, StructField, StructType

from ottla.pipelines.short_error import short_errors
from ottla.pipelines.streams.option import COUNTED, FORMAT, without_ours

if TYPE_CHECKING:
    from ottla.pipelines.streams.reader import StreamsReader


class StreamsDataSource(DataSource):
    """The source of applications."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return FORMAT

    def schema(self) -> StructType:
        """The schema that Spark gets."""
        return StructType([StructField(COUNTED, BooleanType())])

    @short_errors
    def streamReader(self, schema: StructType) -> "StreamsReader":  # noqa: N802
        """Spark calls for `spark.readStream`."""
        from ottla.pipelines.streams.reader import StreamsReader

        return StreamsReader(self.options, without_ours(self.options))
