"""A program: counts the records of a topic per value with `KafkaStreams`, and ends when all is counted.

`python -m tests.integration.pipelines.streams_query BOOTSTRAP DIRECTORY ROWS_PER_BATCH [GUARANTEE]`; prints the id of
each micro-batch that is finished. The key changes on the way, so that records pass a repartition topic.
"""

import os
import sys
import time
from pathlib import Path

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.offset import IsolationLevel, OffsetSpec
from ottla.client.record import TopicPartition
from ottla.pipelines.session import session
from ottla.pipelines.streams.kafka_streams import KafkaStreams
from ottla.streams import Consumed, Grouped, Materialized, Produced, Serdes, StreamsBuilder, Topology
from ottla.streams.host.run_state import RunState
from tests.integration.pipelines.conftest import SPARK_SETTINGS

SOURCE, TARGET, APPLICATION = "values", "value-counts", "counting"


def topology() -> Topology:
    text = Serdes.string()
    builder = StreamsBuilder()
    values = builder.stream(SOURCE, Consumed.with_(text, text)).group_by(
        lambda _, value: value, Grouped.with_(text, text)
    )
    counts = values.count(materialized_as=Materialized.as_("counts"))
    counts.to_stream().to(TARGET, Produced.with_(text, Serdes.long()))
    return builder.build()


def config(bootstrap: str, directory: str, rows_per_batch: str, guarantee: str = "exactly_once_v2") -> dict[str, str]:
    return {
        "application.id": APPLICATION,
        "bootstrap.servers": bootstrap,
        "state.dir": str(Path(directory, "state")),
        "processing.guarantee": guarantee,
        "max.offsets.per.trigger": rows_per_batch,
        "replication.factor": "1",
    }


def lag(admin: Admin, topics: tuple[str, ...]) -> int:
    """What the application has not read yet, or not committed."""
    places = [
        TopicPartition(name, part.partition)
        for name, topic in admin.describe_topics(topics).items()
        for part in topic.partitions
    ]
    ends = admin.list_offsets(dict.fromkeys(places, OffsetSpec.LATEST), isolation_level=IsolationLevel.READ_COMMITTED)
    lasts = admin.list_offsets(dict.fromkeys(places, OffsetSpec.LATEST))
    committed = admin.list_consumer_group_offsets({APPLICATION: places})[APPLICATION]
    found = {place: 0 if at is None else at.offset for place, at in committed.items()}
    return sum(lasts[place].offset - min(found.get(place, 0), ends[place].offset) for place in places)


def main(bootstrap: str, directory: str, rows_per_batch: str, guarantee: str = "exactly_once_v2") -> int:
    """Runs until everything is counted."""
    settings = {
        **SPARK_SETTINGS,
        "spark.local.dir": str(Path(directory, "local")),
        "spark.sql.warehouse.dir": directory,
    }
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    spark = session(APPLICATION, master=None if is_submitted else "local[2,4]", settings=settings)
    spark.sparkContext.setLogLevel("WARN")
    last = -1
    with (
        KafkaStreams(topology(), config(bootstrap, directory, rows_per_batch, guarantee), spark=spark) as streams,
        Admin(bootstrap_servers=bootstrap) as admin,
    ):
        if not streams.wait_for(RunState.RUNNING, 240):
            print(streams.failure, flush=True)
            return 1
        while lag(admin, streams.application.inputs):
            if streams.failure is not None:
                print(streams.failure, flush=True)
                return 1
            batch = streams.metrics().get("batchId", last)
            if batch > last:
                last = batch
                print(f"batch {last}", flush=True)
            time.sleep(0.1)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
