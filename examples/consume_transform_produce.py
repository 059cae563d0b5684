"""From one topic to another, exactly once: results and offsets are committed in one of Kafka's transactions.

A reader of the results with `isolation.level=read_committed` sees each of them once, however often this crashes.
"""

import sys

from ottla.client import Consumer, Producer

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
WORDS = ["the quick brown fox", "jumps over", "the lazy dog"]

with Producer(bootstrap_servers=BROKER) as producer:
    for words in WORDS:
        producer.send("sentences", value=words.encode())

with (
    Consumer(
        bootstrap_servers=BROKER,
        group_id="shouters",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        isolation_level="read_committed",
    ) as consumer,
    # The id is this worker's for ever: whoever starts with the same one takes over, and a zombie is fenced.
    Producer(bootstrap_servers=BROKER, transactional_id="shouter-1") as producer,
):
    producer.init_transactions()
    consumer.subscribe(["sentences"])
    done = 0
    while done < len(WORDS):
        records = consumer.poll(1)
        if not records:
            continue
        with producer.transaction():
            for record in records:
                producer.send("shouts", value=record.value.upper(), key=record.key)
            producer.send_offsets_to_transaction(records.next_offsets(), consumer.group_metadata())
        done += len(records)

with Consumer(bootstrap_servers=BROKER, group_id="readers", auto_offset_reset="earliest") as reader:
    reader.subscribe(["shouts"])
    for seen, record in enumerate(reader, 1):
        print(record.value.decode())
        if seen == len(WORDS):
            break
