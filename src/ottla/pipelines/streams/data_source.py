"""`format("ottla_streams")`: reads the inputs of an application and gives what its tasks make of them; writes that.

The engine runs inside of the read: a task of Spark fetches, computes and hands its rows to the sink, with no shuffle
and no second process in between. `KafkaStreams` is the only user.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter
from pyspark.sql.types import StructType

from ottla.pipelines.short_error import short_errors
from ottla.pipelines.streams.option import FORMAT, without_ours

if TYPE_CHECKING:
    from ottla.pipelines.streams.reader import StreamsReader


class StreamsDataSource(DataSource):
    """Source and sink of applications."""

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return FORMAT

    @short_errors
    def schema(self) -> StructType:
        """What tasks give out."""
        from ottla.pipelines.streams.output_column import output_schema

        found: StructType = output_schema()
        return found

    @short_errors
    def streamReader(self, schema: StructType) -> "StreamsReader":  # noqa: N802
        """Spark calls for `spark.readStream`."""
        from ottla.pipelines.streams.reader import StreamsReader

        return StreamsReader(self.options, without_ours(self.options))

    @short_errors
    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Spark calls for `DataFrame.writeStream`."""
        from ottla.pipelines.streams.writer import StreamsWriter

        return StreamsWriter(without_ours(self.options), schema, overwrite)
