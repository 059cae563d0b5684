"""Important records first: a partitioner puts them into a partition of their own, and the reader looks there first."""

import sys
import time

from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
# A topic of its own for every run, which so begins with nothing in it.
TOPIC = f"tickets-{time.time_ns()}"
URGENT = 0


class ByPriority:
    """Partition 0 is for what is urgent; everything else is spread over the rest by its key."""

    def partition(self, topic, key, key_bytes, value, value_bytes, view) -> int:
        if value.startswith("urgent"):
            return URGENT
        return 1 + sum(key_bytes or b"") % (len(view.topics[topic].partitions) - 1)


with Admin(bootstrap_servers=BROKER) as admin:
    admin.create_topics([NewTopic(TOPIC, partitions=4)])

with Producer(bootstrap_servers=BROKER, partitioner_class=ByPriority(), value_serializer=str.encode) as producer:
    for number in range(30):
        kind = "urgent" if number % 10 == 9 else "ordinary"
        producer.send(TOPIC, value=f"{kind} {number}", key=b"%d" % number)

with Consumer(bootstrap_servers=BROKER, auto_offset_reset="earliest", value_deserializer=bytes.decode) as consumer:
    partitions = [TopicPartition(TOPIC, index) for index in range(4)]
    urgent, ordinary = partitions[:1], partitions[1:]
    consumer.assign(partitions)
    ends = consumer.end_offsets(partitions)
    order = []
    while any(consumer.position(partition) < end for partition, end in ends.items()):
        # As long as something urgent is left, nothing else is looked at.
        if consumer.position(urgent[0]) < ends[urgent[0]]:
            consumer.pause(ordinary)
        else:
            consumer.resume(ordinary)
        order += [record.value for record in consumer.poll(1)]

print("first:", *order[:3], sep="\n  ")
assert all(value.startswith("urgent") for value in order[:3])
