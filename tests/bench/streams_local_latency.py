"""A program: sends 1,000 records a second through a count on the local host, and prints how long each took, in ms.

`python -m tests.bench.streams_local_latency BOOTSTRAP GUARANTEE`; it sends, computes and reads in one process.
"""

import sys
import tempfile
import threading
import time

from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition
from ottla.streams import KafkaStreams, RunState
from tests.bench.streams import SOURCE, TARGET, counting

_RECORDS = 5_000
_WARM = 1_000


def main(bootstrap: str, guarantee: str) -> int:
    """Sends, and prints."""
    with tempfile.TemporaryDirectory() as directory:
        config = {
            "application.id": "latency",
            "bootstrap.servers": bootstrap,
            "processing.guarantee": guarantee,
            "state.dir": directory,
            "replication.factor": "1",
        }
        with KafkaStreams(counting(windowed=False), config, host="local") as streams:
            assert streams.wait_for(RunState.RUNNING, 60), streams.failure
            sent: dict[bytes, float] = {}
            sending = threading.Thread(target=send, args=(bootstrap, sent))
            with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
                place = TopicPartition(TARGET, 0)
                consumer.assign([place])
                consumer.seek_to_beginning([place])
                consumer.poll(0.1)
                sending.start()
                took: list[float] = []
                while len(took) < _RECORDS:
                    records = consumer.poll(1.0)
                    now = time.monotonic()
                    took += [(now - sent[record.key or b""]) * 1000 for record in records]
            sending.join()
    print("\n".join(f"{one:.3f}" for one in took[_WARM:]))
    return 0


def send(bootstrap: str, sent: dict[bytes, float]) -> None:
    """A record every millisecond, each with a key of its own."""
    with Producer(bootstrap_servers=bootstrap) as producer:
        began = time.monotonic()
        for number in range(_RECORDS):
            due = began + number / 1000
            while (left := due - time.monotonic()) > 0:
                time.sleep(left)
            key = b"%d" % number
            sent[key] = time.monotonic()
            producer.send(SOURCE, key=key, value=b"value")
        producer.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
