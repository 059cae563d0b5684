"""The three ways to learn what became of a record: wait for it, be called, or await it."""

import asyncio
import sys

from ottla.client import AsyncProducer, Producer, RecordMetadata

BROKER = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"


def wait(producer: Producer) -> None:
    """Simple, and slow if you do it for every record: nothing is batched."""
    metadata = producer.send("orders", value=b"waited for").result(timeout=10)
    print(f"waited: partition {metadata.partition}, offset {metadata.offset}")


def be_called(producer: Producer) -> None:
    """Fast: records are batched, and each one's end is told in the order of sending within its partition."""
    offsets = []

    def told(metadata: RecordMetadata | None, error: Exception | None) -> None:
        # Runs in the producer's own thread: it must not block.
        offsets.append(metadata.offset if metadata else error)

    for number in range(5):
        producer.send("orders", value=b"call %d" % number, on_delivery=told)
    producer.flush()
    print(f"called: {len(offsets)} times, in order: {offsets == sorted(offsets)}")


async def await_it() -> None:
    """The same in asyncio."""
    async with AsyncProducer(bootstrap_servers=BROKER) as producer:
        sends = [await producer.send("orders", value=b"await %d" % number) for number in range(5)]
        print(f"awaited: {len(sends)} records, the last at offset {sends[-1].offset}")


with Producer(bootstrap_servers=BROKER, linger_ms=5) as blocking:
    wait(blocking)
    be_called(blocking)
asyncio.run(await_it())
