"""`format("ottla")`: what Spark makes of a format's name and options. Reading and writing are elsewhere.

Spark starts several short-lived processes for a query, and most of them only need the name or the schema: readers and
writers are imported where they are made.
"""

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceStreamWriter, DataSourceWriter
from pyspark.sql.types import StructType

from ottla.pipelines.option.format import has_formats
from ottla.pipelines.option.name import Use, check_names
from ottla.pipelines.option.parse import parse_batch_read, parse_stream_read
from ottla.pipelines.option.value import boolean
from ottla.pipelines.short_error import short_errors
from ottla.pipelines.source.column import topic_schema

if TYPE_CHECKING:
    from ottla.pipelines.source.batch_reader import OttlaBatchReader
    from ottla.pipelines.source.stream_reader import OttlaStreamReader


class OttlaDataSource(DataSource):
    """Topics of a Kafka cluster, be it Ottla's or Apache's, as data frames.

    Options have the names of Spark's Kafka connector; see docs/SPARK.md.
    """

    @classmethod
    def name(cls) -> str:
        """The format's name. `kafka` is taken, even where Spark's connector is not installed."""
        return "ottla"

    @short_errors
    def schema(self) -> StructType:
        """Spark calls unless the user gave a schema."""
        check_names(self.options, Use.READ)
        plain = topic_schema(has_headers=boolean(self.options, "includeHeaders", default=False))
        if not has_formats(self.options):
            return plain
        from ottla.pipelines.source.formatted_column import formatted_schema

        return formatted_schema(parse_stream_read(self.options).formats, plain)

    @short_errors
    def reader(self, schema: StructType) -> "OttlaBatchReader":
        """Spark calls for `spark.read`."""
        from ottla.pipelines.source.batch_reader import OttlaBatchReader

        return OttlaBatchReader(parse_batch_read(self.options), schema)

    @short_errors
    def streamReader(self, schema: StructType) -> "OttlaStreamReader":  # noqa: N802
        """Spark calls for `spark.readStream`."""
        from ottla.pipelines.source.stream_reader import OttlaStreamReader

        return OttlaStreamReader(parse_stream_read(self.options), schema)

    @short_errors
    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Spark calls for `DataFrame.write`, with these very names of the arguments."""
        from ottla.pipelines.sink.batch_writer import OttlaBatchWriter

        return OttlaBatchWriter(self.options, schema, overwrite)

    @short_errors
    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Spark calls for `DataFrame.writeStream`, with these very names of the arguments."""
        from ottla.pipelines.sink.stream_writer import OttlaStreamWriter

        return OttlaStreamWriter(self.options, schema, overwrite)
