"""A program: counts the records of `in` per key on the local host, and prints CPU and time of a record.

`python -m tests.bench.streams_local_query BOOTSTRAP GUARANTEE RECORDS`. It measures from the first record on, until all
are committed.
"""

import sys
import tempfile
import time

from ottla.client.admin.blocking_admin import Admin
from ottla.client.record import TopicPartition
from ottla.streams import KafkaStreams
from tests.bench.streams import SOURCE, counting


def main(bootstrap: str, guarantee: str, records: str) -> int:
    """Runs until all is committed."""
    wanted = int(records)
    with tempfile.TemporaryDirectory() as directory, Admin(bootstrap_servers=bootstrap) as admin:
        config = {
            "application.id": f"bench-{guarantee}-{time.time_ns()}",
            "bootstrap.servers": bootstrap,
            "processing.guarantee": guarantee,
            "state.dir": directory,
            "replication.factor": "1",
            "commit.interval.ms": "1000" if guarantee == "at_least_once" else "100",
        }
        with KafkaStreams(counting(windowed=False), config, host="local") as streams:
            while not streams.metrics().get("process-total"):
                time.sleep(0.01)
                assert streams.failure is None, streams.failure
            already, began, cpu = streams.metrics()["process-total"], time.monotonic(), time.process_time()
            while committed(admin, str(config["application.id"])) < wanted:
                assert streams.failure is None, streams.failure
                time.sleep(0.1)
            done = wanted - already
            micros = (time.process_time() - cpu) / done * 1e6
            print(micros, done / (time.monotonic() - began), flush=True)
    return 0


def committed(admin: Admin, group: str) -> int:
    """How many records of the source the group has behind it."""
    found = admin.list_consumer_group_offsets({group: [TopicPartition(SOURCE, 0)]})[group]
    offset = found[TopicPartition(SOURCE, 0)]
    return 0 if offset is None else offset.offset


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
