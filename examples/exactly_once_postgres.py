"""Exactly once into PostgreSQL: rows and offsets are stored in one transaction of the database.

    python exactly_once_postgres.py localhost:9092 postgresql://localhost/orders

Kafka's committed offsets are not used: where to go on is what the database says. Run it twice; the second run finds
nothing to do.
"""

import json
import sys

import psycopg

from ottla.client import Consumer, Producer, TopicPartition

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
DATABASE = sys.argv[2] if len(sys.argv) > 2 else "postgresql://localhost/postgres"
TOPIC = "orders-to-store"
TABLES = """
    CREATE TABLE IF NOT EXISTS orders (id integer PRIMARY KEY, amount numeric NOT NULL);
    CREATE TABLE IF NOT EXISTS positions (
        topic text, partition integer, next_offset bigint NOT NULL, PRIMARY KEY (topic, partition));
"""


def produce() -> None:
    with Producer(bootstrap_servers=BROKER) as producer:
        for number in range(100):
            value = json.dumps({"id": number, "amount": number * 1.5}).encode()
            producer.send(TOPIC, value=value, key=b"%d" % number)


def store(database: psycopg.Connection) -> int:
    """Reads to the end; how many rows it stored."""
    stored = 0
    with Consumer(bootstrap_servers=BROKER, enable_auto_commit=False) as consumer:
        partitions = [TopicPartition(TOPIC, index) for index in consumer.partitions_for(TOPIC).partitions]
        ends = consumer.end_offsets(partitions)
        consumer.assign(partitions)
        for partition in partitions:
            consumer.seek(partition, next_offset(database, partition))
        while any(consumer.position(partition) < end for partition, end in ends.items()):
            records = consumer.poll(5)
            # One transaction: either the rows are there and the position has moved, or neither.
            with database.transaction():
                for record in records:
                    order = json.loads(record.value)
                    database.execute("INSERT INTO orders VALUES (%s, %s)", (order["id"], order["amount"]))
                    save_position(database, TopicPartition(record.topic, record.partition), record.offset + 1)
                    stored += 1
    return stored


def next_offset(database: psycopg.Connection, partition: TopicPartition) -> int:
    found = database.execute(
        "SELECT next_offset FROM positions WHERE topic = %s AND partition = %s", (partition.topic, partition.partition)
    ).fetchone()
    return found[0] if found else 0


def save_position(database: psycopg.Connection, partition: TopicPartition, offset: int) -> None:
    database.execute(
        "INSERT INTO positions VALUES (%s, %s, %s) "
        "ON CONFLICT (topic, partition) DO UPDATE SET next_offset = excluded.next_offset",
        (partition.topic, partition.partition, offset),
    )


with psycopg.connect(DATABASE, autocommit=True) as connection:
    connection.execute(TABLES)
    if not next_offset(connection, TopicPartition(TOPIC, 0)):
        produce()
    print(f"stored {store(connection)} orders now, {store(connection)} when asked again")
