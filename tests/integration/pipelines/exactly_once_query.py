"""A program: copies a topic to another one exactly once, in many micro-batches, and ends when all is copied.

`python -m tests.integration.pipelines.exactly_once_query BOOTSTRAP SOURCE TARGET DIRECTORY ROWS_PER_BATCH`; prints the
id of each micro-batch that is finished. It runs on this machine, or where spark-submit says.
"""

import os
import sys
from pathlib import Path

from ottla.pipelines.session import session
from tests.integration.pipelines.conftest import SPARK_SETTINGS


def main(bootstrap: str, source: str, target: str, directory: str, rows_per_batch: str) -> None:
    """Runs the query; an error ends the program with its traceback."""
    settings = {
        **SPARK_SETTINGS,
        "spark.local.dir": str(Path(directory, "local")),
        "spark.sql.warehouse.dir": directory,
    }
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    spark = session("exactly-once", master=None if is_submitted else "local[2,4]", settings=settings)
    spark.sparkContext.setLogLevel("WARN")
    options = {"kafka.bootstrap.servers": bootstrap}
    records = (
        spark.readStream.format("ottla")
        .options(**options, subscribe=source, startingOffsets="earliest", maxOffsetsPerTrigger=rows_per_batch)
        .load()
    )
    query = (
        records.select("key", "value")
        .writeStream.format("ottla")
        .options(**options, topic=target, exactlyOnce="true", checkpointLocation=str(Path(directory, "checkpoint")))
        .trigger(availableNow=True)
        .start()
    )
    last = -1
    while not query.awaitTermination(0.1):
        progress = query.lastProgress
        if progress is not None and progress["batchId"] > last:
            last = progress["batchId"]
            print(f"batch {last}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
