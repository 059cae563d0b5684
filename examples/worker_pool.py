"""Handlers that take their time, in threads: one worker for each partition, so the order within it is kept.

The consumer goes on polling, so it stays in its group however long a record takes. A partition whose worker is behind
is paused; what is committed is what was done, not what was read.
"""

import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
# A topic of its own for every run, which so begins with nothing in it.
TOPIC, RECORDS = f"pictures-{time.time_ns()}", 60
handled: dict[TopicPartition, list[int]] = {}
threads = set()


def handle(partition: TopicPartition, records: list) -> int:
    """Works on one partition's records; the offset to go on with."""
    for record in records:
        time.sleep(0.005)
        handled.setdefault(partition, []).append(record.offset)
        threads.add(threading.current_thread().name)
    return records[-1].offset + 1


with Admin(bootstrap_servers=BROKER) as admin:
    admin.create_topics([NewTopic(TOPIC, partitions=4)])
with Producer(bootstrap_servers=BROKER) as producer:
    for number in range(RECORDS):
        producer.send(TOPIC, value=b"%d" % number, key=b"%d" % number)

with (
    Consumer(
        bootstrap_servers=BROKER, group_id="painters", auto_offset_reset="earliest", enable_auto_commit=False
    ) as consumer,
    ThreadPoolExecutor(max_workers=4) as pool,
):
    consumer.subscribe([TOPIC])
    busy: dict[TopicPartition, Future[int]] = {}
    while sum(map(len, handled.values())) < RECORDS or busy:
        for partition, records in consumer.poll(0.1).by_partition().items():
            busy[partition] = pool.submit(handle, partition, list(records))
            consumer.pause([partition])
        finished = {partition: future.result() for partition, future in busy.items() if future.done()}
        if finished:
            consumer.commit(finished)
            consumer.resume(finished)
            for partition in finished:
                del busy[partition]

assert all(offsets == sorted(offsets) for offsets in handled.values())
print(f"{RECORDS} records of {len(handled)} partitions, in order, by {len(threads)} threads")
