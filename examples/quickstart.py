"""Ten records into a topic, and out of it again as a member of a group."""

import sys

from ottla.client import Consumer, Producer

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
TOPIC = "quickstart"

with Producer(bootstrap_servers=BROKER) as producer:
    for number in range(10):
        producer.send(TOPIC, key=f"key-{number}".encode(), value=f"hello {number}".encode())

with Consumer(bootstrap_servers=BROKER, group_id="quickstart", auto_offset_reset="earliest") as consumer:
    consumer.subscribe([TOPIC])
    for seen, record in enumerate(consumer, 1):
        print(record.partition, record.offset, record.key, record.value)
        if seen == 10:
            break
