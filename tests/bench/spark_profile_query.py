"""A Spark driver on the profile of `session()`, with what it is told changed: how long small work takes.

`python -m tests.bench.spark_profile_query [NAME=VALUE …]` answers each line with two numbers:

    python                a job of eight tasks in Python               ms, and ms of CPU of all its processes
    crowd                 a small job while a large one runs           the same
    log [NAME=VALUE]      a micro-batch's two notes in its checkpoint  ms, and the CPU of the whole micro-batch
    count [NAME=VALUE]    a micro-batch that changes a large state     ms, and ms of CPU
    state [NAME=VALUE]    the same                                     MB of heap for its state, MB in its checkpoint

Settings of SQL are changed for one line, all others for the driver.
"""

import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from ottla.pipelines import session
from tests.bench.session_cpu import session_cpu_seconds

_JOBS = 10
_BATCHES = 6
_TASKS = 8
_KEYS = 200_000
_CROWD_TASKS = 16
_CROWD_TASK_MS = 200

Numbers = tuple[float, float]


class Work:
    """Answers one line after the other."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def python(self) -> Numbers:
        """Jobs whose tasks run in Python, as those of a source, a sink or a function do."""
        frame = self._spark.range(0, 8000, 1, _TASKS).mapInArrow(_same, "id bigint")
        return self._jobs(lambda: frame.write.format("noop").mode("overwrite").save(), _JOBS)

    def crowd(self) -> Numbers:
        """A small job beside a large one."""
        ended = threading.Event()
        large = threading.Thread(target=self._occupy, args=(ended,))
        large.start()
        try:
            return self._jobs(lambda: self._spark.range(0, 10, 1, 1).write.format("noop").mode("overwrite").save(), 3)
        finally:
            ended.set()
            self._spark.sparkContext.cancelJobGroup("crowd")
            large.join()

    def log(self) -> Numbers:
        """Micro-batches with next to nothing to do."""
        batches, cpu_seconds, _ = self._stream(self._rows(10).select("value"), "append")
        notes = [found["durationMs"]["walCommit"] + found["durationMs"]["commitOffsets"] for found in batches]
        return statistics.median(notes), 1000 * cpu_seconds / len(batches)

    def count(self) -> Numbers:
        """Micro-batches of 20,000 rows that count 200,000 keys."""
        batches, cpu_seconds, _ = self._stream(self._counted(), "update")
        durations = [found["durationMs"]["triggerExecution"] for found in batches]
        return statistics.median(durations), 1000 * cpu_seconds / len(batches)

    def state(self) -> Numbers:
        """What the state of the same takes."""
        before = self._heap_bytes()
        held: list[int] = []
        *_, written = self._stream(self._counted(), "update", lambda: held.append(self._heap_bytes()))
        return (held[0] - before) / 1e6, written / 1e6

    def _counted(self) -> DataFrame:
        return self._rows(20_000).selectExpr(f"pmod(hash(value), {_KEYS}) AS key").groupBy("key").count()

    def _rows(self, count: int) -> DataFrame:
        return self._spark.readStream.format("rate-micro-batch").option("rowsPerBatch", count).load()

    def _stream(
        self, frame: DataFrame, mode: str, at_end: Callable[[], object] = lambda: None
    ) -> tuple[list[Any], float, int]:
        """Some micro-batches after the first, their CPU, and the bytes of the checkpoint; `at_end` is called before."""
        checkpoint = tempfile.mkdtemp(prefix="ottla-bench-checkpoint-")
        writer = frame.writeStream.format("noop").outputMode(mode).option("checkpointLocation", checkpoint)
        query = writer.start()
        try:
            _wait(query, 1)
            begun, cpu_seconds = len(query.recentProgress), session_cpu_seconds(os.getsid(0))
            _wait(query, begun + _BATCHES)
            cpu_seconds = session_cpu_seconds(os.getsid(0)) - cpu_seconds
            batches = query.recentProgress[begun : begun + _BATCHES]
            at_end()
        finally:
            query.stop()
        written = sum(path.stat().st_size for path in Path(checkpoint).rglob("*") if path.is_file())
        shutil.rmtree(checkpoint)
        return batches, cpu_seconds, written

    def _jobs(self, job: Callable[[], object], count: int) -> Numbers:
        times = []
        cpu_seconds = session_cpu_seconds(os.getsid(0))
        for _ in range(count):
            start = time.perf_counter()
            job()
            times.append(time.perf_counter() - start)
        cpu_seconds = session_cpu_seconds(os.getsid(0)) - cpu_seconds
        return 1000 * statistics.median(times), 1000 * cpu_seconds / count

    def _occupy(self, ended: threading.Event) -> None:
        self._spark.sparkContext.setJobGroup("crowd", "occupies all cores", interruptOnCancel=True)
        # Its tasks sleep: they take the places of others, and not their CPU.
        sleep = f"java_method('java.lang.Thread', 'sleep', id + {_CROWD_TASK_MS}L)"
        rows = self._spark.range(0, _CROWD_TASKS, 1, _CROWD_TASKS).selectExpr(sleep)
        while not ended.is_set():
            try:
                rows.collect()
            except Py4JError:
                # It was cancelled.
                assert ended.is_set()

    def _heap_bytes(self) -> int:
        java: Any = self._spark._jvm.java.lang  # type: ignore[union-attr]
        java.System.gc()
        return int(java.Runtime.getRuntime().totalMemory() - java.Runtime.getRuntime().freeMemory())


def _wait(query: StreamingQuery, batches: int) -> None:
    while len(query.recentProgress) < batches:
        assert query.isActive, query.exception()
        time.sleep(0.05)


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


@contextmanager
def _changed(spark: SparkSession, changes: dict[str, str]) -> Iterator[None]:
    kept = {name: spark.conf.get(name) for name in changes}
    for name, value in changes.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, before in kept.items():
            spark.conf.set(name, before)


def _settings(words: list[str]) -> dict[str, str]:
    return dict(word.split("=", 1) for word in words)


def main() -> None:
    """Answers until its input ends."""
    settings = {"spark.ui.showConsoleProgress": "false", **_settings(sys.argv[1:])}
    spark = session(master="local[2]", settings=settings)
    spark.sparkContext.setLogLevel("ERROR")
    work = Work(spark)
    print("ready", flush=True)
    for line in sys.stdin:
        command, *changes = line.split()
        with _changed(spark, _settings(changes)):
            print(*getattr(work, command)(), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
