"""What `tests.bench.instructions` counts in the clients: sends or polls as many records as each line of input says."""

import sys

from ottla.client.consumer.consumer import Consumer
from ottla.client.producer.express.express import Express
from ottla.client.producer.producer import Producer
from ottla.client.record import TopicPartition

VALUE = bytes(100)


def main(bootstrap: str, topic: str, work: str) -> None:
    """Answers each line, when the work is done, with how many records it was: a poll may bring more than are wanted."""
    if work == "poll":
        _poll(bootstrap, topic)
    elif work == "send":
        _send(bootstrap, topic)
    else:
        if work == "result by the loop":
            leave_to_loop()
        _result(bootstrap, topic)


def leave_to_loop() -> None:
    """Has no thread of this process carry the record that it waits for: the express path is never taken."""
    setattr(Express, "carry", lambda express, batch, timeout_s: None)  # noqa: B010  (no producer does this)


def _send(bootstrap: str, topic: str) -> None:
    with Producer(bootstrap_servers=bootstrap, linger_ms=10_000) as producer:
        for line in sys.stdin:
            for _ in range(int(line)):
                producer.send(topic, VALUE, partition=0)
            producer.flush()
            print(line.strip(), flush=True)


def _result(bootstrap: str, topic: str) -> None:
    with Producer(bootstrap_servers=bootstrap, linger_ms=0, acks=1) as producer:
        for line in sys.stdin:
            for _ in range(int(line)):
                producer.send(topic, VALUE, partition=0).result(600)
            print(line.strip(), flush=True)


def _poll(bootstrap: str, topic: str) -> None:
    with Consumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest", max_poll_records=10_000) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        for line in sys.stdin:
            seen = 0
            while seen < int(line):
                seen += len(consumer.poll(timeout=1.0))
            print(seen, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
