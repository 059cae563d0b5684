"""Makes the format known to a SparkSession that does not find it by itself."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Adds `format("ottla")` to a session.

    Spark finds it alone where the module `pyspark_ottla` can be imported by the Python that Spark runs. This is for
    sessions where it can't, such as a Spark Connect server without it; there `ottla` has to be shipped to executors.
    """
    from ottla.pipelines.source.data_source import OttlaDataSource

    spark.dataSource.register(OttlaDataSource)
