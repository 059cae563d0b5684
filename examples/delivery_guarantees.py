"""At most once, at least once, exactly once: what a reader has done when it crashes in the middle and starts again.

The difference is when the position is committed: before the work, after the work, or together with it.
"""

import contextlib
import sys
import time
from collections.abc import Iterator

from ottla.client import Consumer, Producer, Records, TopicPartition

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
# A topic of its own for every run, which so begins with nothing in it.
TOPIC, RECORDS = f"payments-{time.time_ns()}", 20


class CrashError(Exception):
    """Stands for a power cut."""


def consumer_of(group: str) -> Consumer:
    return Consumer(
        bootstrap_servers=BROKER,
        group_id=group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=5,
    )


def polls(consumer: Consumer) -> Iterator[Records]:
    """What is left to read, a few records at a time."""
    records = Records()
    while not records or records[-1].offset < RECORDS - 1:
        records = consumer.poll(1)
        yield records


def at_most_once(done: list[bytes], *, crash_after: int | None) -> None:
    """Commits first: what was in work when it crashed is lost."""
    with consumer_of("at-most-once") as consumer:
        consumer.subscribe([TOPIC])
        for records in polls(consumer):
            consumer.commit()
            work(records, done, crash_after)


def at_least_once(done: list[bytes], *, crash_after: int | None) -> None:
    """Commits last: what was done but not committed is done again."""
    with consumer_of("at-least-once") as consumer:
        consumer.subscribe([TOPIC])
        for records in polls(consumer):
            work(records, done, crash_after)
            consumer.commit()


def exactly_once(done: list[bytes], *, crash_after: int | None) -> None:
    """The position is part of the result: here the number of things done, in a database the row that says so."""
    partition = TopicPartition(TOPIC, 0)
    with consumer_of("exactly-once") as consumer:
        consumer.assign([partition])
        consumer.seek(partition, len(done))
        for records in polls(consumer):
            work(records, done, crash_after)


def work(records: Records, done: list[bytes], crash_after: int | None) -> None:
    for record in records:
        if crash_after is not None and len(done) == crash_after:
            raise CrashError
        done.append(record.value)


with Producer(bootstrap_servers=BROKER) as producer:
    for number in range(RECORDS):
        producer.send(TOPIC, value=b"%d" % number, partition=0)

for read in (at_most_once, at_least_once, exactly_once):
    done: list[bytes] = []
    with contextlib.suppress(CrashError):
        read(done, crash_after=7)
    read(done, crash_after=None)
    lost, again = RECORDS - len(set(done)), len(done) - len(set(done))
    print(f"{read.__name__.replace('_', ' ')}: {lost} lost, {again} done twice")
