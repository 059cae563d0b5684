"""A Spark driver that runs queries whenever it is told to: a program of its own, for any PySpark from 4.0 on.

`python spark_query.py FORMAT BOOTSTRAP [JAR,JAR…]` reads lines from its input and answers each with one line:

    batch TOPIC           reads a topic and adds something up     seconds, rows
    stream TOPIC          drains a topic into nothing             seconds, rows
    copy TOPIC TARGET     a batch from topic to topic             seconds, 0
    start TOPIC TARGET    a stream from topic to topic            0, 0, as soon as it has had a micro-batch
    stop                  ends it                                 0, and the median of its micro-batches in ms

It knows nothing of Ottla but the name of its format, since the other Spark that it runs on has no Ottla.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


def session(kind: str, jars: str) -> SparkSession:
    """Our own session for our format; Spark's defaults for its connector."""
    if kind == "ottla":
        from ottla.pipelines import session as tuned

        return tuned(master="local[2]", settings=SETTINGS)
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def batch(frame: DataFrame) -> int:
    """Reads the topic and adds something up; the rows."""
    row = frame.agg(F.count("*"), F.sum(F.length("value")), F.max("offset")).collect()[0]
    return int(row[0])


def stream(frame: DataFrame) -> int:
    """Drains the topic into nothing; the rows."""
    checkpoint = tempfile.mkdtemp(prefix="ottla-bench-checkpoint-")
    try:
        writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return sum(progress["numInputRows"] for progress in query.recentProgress)
    finally:
        shutil.rmtree(checkpoint)


class Queries:
    """Answers one line after the other."""

    def __init__(self, spark: SparkSession, kind: str, bootstrap: str) -> None:
        self._spark = spark
        self._kind = kind
        self._brokers = {"kafka.bootstrap.servers": bootstrap}
        self._running: StreamingQuery | None = None
        self._checkpoint = ""

    def answer(self, command: str, *topics: str) -> tuple[float, float]:
        """Seconds and rows."""
        start = time.perf_counter()
        rows: float = 0
        if command == "batch":
            rows = batch(self._read(*topics))
        elif command == "stream":
            rows = stream(self._read_stream(*topics, "earliest"))
        elif command == "copy":
            self._copy(*topics)
        elif command == "start":
            return self._start(*topics)
        elif command == "stop":
            return self._stop()
        return time.perf_counter() - start, rows

    def _read(self, topic: str) -> DataFrame:
        options = {**self._brokers, "subscribe": topic, "startingOffsets": "earliest"}
        return self._spark.read.format(self._kind).options(**options).load()

    def _read_stream(self, topic: str, start: str) -> DataFrame:
        options = {**self._brokers, "subscribe": topic, "startingOffsets": start}
        return self._spark.readStream.format(self._kind).options(**options).load()

    def _copy(self, topic: str, target: str) -> None:
        writer = self._read(topic).select("key", "value").write.format(self._kind)
        writer.options(**self._brokers, topic=target).mode("append").save()

    def _start(self, topic: str, target: str) -> tuple[float, float]:
        self._checkpoint = tempfile.mkdtemp(prefix="ottla-bench-checkpoint-")
        writer = self._read_stream(topic, "latest").select("key", "value").writeStream.format(self._kind)
        options = {**self._brokers, "topic": target, "checkpointLocation": self._checkpoint}
        self._running = writer.options(**options).start()
        while not self._running.recentProgress:
            time.sleep(0.05)
        return 0, 0

    def _stop(self) -> tuple[float, float]:
        assert self._running is not None
        batches = [found for found in self._running.recentProgress if found["numInputRows"]]
        self._running.stop()
        shutil.rmtree(self._checkpoint)
        return 0, statistics.median(found["durationMs"]["triggerExecution"] for found in batches)


def main() -> None:
    """Answers until its input ends."""
    kind, bootstrap, *jars = sys.argv[1:]
    spark = session(kind, *jars or [""])
    spark.sparkContext.setLogLevel("ERROR")
    queries = Queries(spark, kind, bootstrap)
    print("ready", flush=True)
    for line in sys.stdin:
        print(*queries.answer(*line.split()), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
