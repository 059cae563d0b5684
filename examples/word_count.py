"""Word count with Streams: lines in, counts out, exactly once; Spark runs it. Needs `ottla[spark]` and Java."""

import sys
import tempfile
import time

from ottla.client import Admin, Consumer, NewTopic, Producer
from ottla.streams import Consumed, Grouped, Materialized, Produced, Serdes, StreamsBuilder, Topology

TEXT = Serdes.string()
LINES = ["to be or not to be", "that is the question"]


def word_count(lines: str, counts: str) -> Topology:
    """The topology: it can be tested without a broker, see ottla.streams.TopologyTestDriver."""
    builder = StreamsBuilder()
    words = builder.stream(lines, Consumed.with_(TEXT, TEXT)).flat_map_values(lambda line: line.lower().split())
    table = words.group_by(lambda key, word: word, Grouped.with_(TEXT, TEXT)).count(
        materialized_as=Materialized.as_("counts")
    )
    table.to_stream().to(counts, Produced.with_(TEXT, Serdes.long()))
    return builder.build()


def main(broker: str) -> None:
    """Counts the words of `LINES`, and says what came out."""
    from ottla.pipelines.streams.kafka_streams import KafkaStreams

    # Topics and an application of its own for every run, which so begins with nothing.
    number = time.time_ns()
    lines, counts = f"lines-{number}", f"word-counts-{number}"
    with Admin(bootstrap_servers=broker) as admin:
        admin.create_topics([NewTopic(lines, partitions=2), NewTopic(counts, partitions=2)])
    with Producer(bootstrap_servers=broker, value_serializer="string") as producer:
        for line in LINES:
            producer.send(lines, line)
        producer.flush()
    wanted = len(" ".join(LINES).split())
    with tempfile.TemporaryDirectory() as directory:
        config = {
            "application.id": f"word-count-{number}",
            "bootstrap.servers": broker,
            "processing.guarantee": "exactly_once_v2",
            "state.dir": directory,
        }
        reader = {"group.id": f"reader-{number}", "auto.offset.reset": "earliest", "isolation.level": "read_committed"}
        streams = KafkaStreams(word_count(lines, counts), config)
        with streams, Consumer({"bootstrap.servers": broker, **reader}) as consumer:
            consumer.subscribe([counts])
            found: dict[str, int] = {}
            for seen, record in enumerate(consumer, 1):
                found[record.key.decode()] = int.from_bytes(record.value, "big")
                if seen == wanted:
                    break
    for word in sorted(found):
        print(word, found[word])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "localhost:9092")
