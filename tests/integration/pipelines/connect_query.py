"""A program: a client of a Spark Connect server, which reads and copies a topic there.

`python -m tests.integration.pipelines.connect_query URL BOOTSTRAP SOURCE TARGET CHECKPOINT` prints what it found, line
by line. It has no Java and no Spark of its own: plans go to the server, and the source and the sink run there.
"""

import sys

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ottla.pipelines import register
from ottla.pipelines.failure import reason


def main(url: str, bootstrap: str, source: str, target: str, checkpoint: str) -> None:
    """Runs everything in one session."""
    spark = SparkSession.builder.remote(url).getOrCreate()
    options = {"kafka.bootstrap.servers": bootstrap}
    print("type", type(spark).__module__)
    print("rows", _load(spark, options, subscribe=source).where("offset >= 0").count())
    try:
        _load(spark, options, subscribe=source, minPartitions="many").count()
    except PySparkException as error:
        print("refused", reason(error))
    register(spark)
    copied = spark.readStream.format("ottla").options(**options, subscribe=source, startingOffsets="earliest").load()
    query = (
        copied.select("key", "value")
        .writeStream.format("ottla")
        .options(**options, topic=target, exactlyOnce="true", checkpointLocation=checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    rows = spark.createDataFrame([("written", "as a batch")], "key string, value string")
    rows.write.format("ottla").options(**options, topic=target).mode("append").save()
    print("copied", _load(spark, options, subscribe=target).count())
    spark.stop()


def _load(spark: SparkSession, options: dict[str, str], **others: str) -> DataFrame:
    return spark.read.format("ottla").options(**options, **others).load()


if __name__ == "__main__":
    main(*sys.argv[1:])
