"""The consoles for records with a schema registry: `kafka-avro-console-producer`, `-consumer` and their sisters.

They are Kafka's consoles with another line reader and another formatter, whose properties have Confluent's names:
`schema.registry.url`, `value.schema`, `parse.key`, `print.key` …
"""

import sys
from collections.abc import Sequence

from ottla.cli.kafka import console_consumer, console_producer
from ottla.cli.kafka.record.schema_class import formatter_of, reader_of


def avro_producer() -> int:
    """`kafka-avro-console-producer`."""
    return produce("AVRO", sys.argv[1:])


def avro_consumer() -> int:
    """`kafka-avro-console-consumer`."""
    return consume("AVRO", sys.argv[1:])


def json_schema_producer() -> int:
    """`kafka-json-schema-console-producer`."""
    return produce("JSON", sys.argv[1:])


def json_schema_consumer() -> int:
    """`kafka-json-schema-console-consumer`."""
    return consume("JSON", sys.argv[1:])


def protobuf_producer() -> int:
    """`kafka-protobuf-console-producer`."""
    return produce("PROTOBUF", sys.argv[1:])


def protobuf_consumer() -> int:
    """`kafka-protobuf-console-consumer`."""
    return consume("PROTOBUF", sys.argv[1:])


def produce(kind: str, arguments: Sequence[str]) -> int:
    """The producer for one kind of schema; the exit code."""
    return console_producer.main(["--line-reader", reader_of(kind), *arguments])


def consume(kind: str, arguments: Sequence[str]) -> int:
    """The consumer for one kind of schema; the exit code."""
    return console_consumer.main(["--formatter", formatter_of(kind), *arguments])
