"""A program: how many records a second processes of one application count together, of a backlog in four partitions.

`python -m tests.bench.streams_local_share BOOTSTRAP PROCESSES RECORDS` prints the rate between the first commit and the
last one. Each process is this program with `BOOTSTRAP` and the application's id alone.
"""

import subprocess
import sys
import tempfile
import time

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.streams import KafkaStreams
from tests.bench.streams import SOURCE, TARGET, counting

_KEYS = 100_000
_PARTITIONS = 4
_PLACES = [TopicPartition(SOURCE, number) for number in range(_PARTITIONS)]


def share(bootstrap: str, processes: str, records: str) -> None:
    """Fills the topic, and has it counted."""
    group, wanted = f"bench-share-{time.time_ns()}", int(records)
    with Admin(bootstrap_servers=bootstrap) as admin:
        admin.create_topics([NewTopic(name, _PARTITIONS, 1) for name in (SOURCE, TARGET)])
        with Producer(bootstrap_servers=bootstrap, linger_ms=5) as producer:
            for number in range(wanted):
                producer.send(SOURCE, key=b"%d" % (number * 7919 % _KEYS), value=b"value")
            producer.flush()
        command = [sys.executable, "-m", "tests.bench.streams_local_share", bootstrap, group]
        members = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(int(processes))]
        try:
            print(_rate(admin, group, wanted), flush=True)
        finally:
            for one in members:
                one.communicate()


def member(bootstrap: str, group: str) -> None:
    """Counts until its standard input ends."""
    with tempfile.TemporaryDirectory() as directory:
        config = {
            "application.id": group,
            "bootstrap.servers": bootstrap,
            "state.dir": directory,
            "replication.factor": "1",
            "commit.interval.ms": "500",
        }
        with KafkaStreams(counting(windowed=False), config, host="local") as streams:
            sys.stdin.read()
            assert streams.failure is None, streams.failure


def _rate(admin: Admin, group: str, wanted: int) -> float:
    """Records a second."""
    first = 0
    while not first:
        time.sleep(0.05)
        first = _committed(admin, group)
    began = time.monotonic()
    while _committed(admin, group) < wanted:
        time.sleep(0.05)
    return (wanted - first) / (time.monotonic() - began)


def _committed(admin: Admin, group: str) -> int:
    found = admin.list_consumer_group_offsets({group: _PLACES})[group]
    return sum(one.offset for one in found.values() if one is not None)


if __name__ == "__main__":
    (share if len(sys.argv) == 4 else member)(*sys.argv[1:])
