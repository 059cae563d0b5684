"""Makes the format known to a SparkSession that does not find it by itself."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Adds `format("ottla")` to a session.

    Spark finds it alone where the module `pyspark_ottla` can be imported by the Python that Spark looks with. This is
    for sessions where it can't, on Spark Connect, too. Its name is sent, not its code: Ottla has to be installed
    wherever Spark's Python processes run.
    """
    from ottla.pipelines.source.data_source import OttlaDataSource

    spark.dataSource.register(OttlaDataSource)
