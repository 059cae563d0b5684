"""A loop over a consumer that is left in the middle: the rest is not lost to a commit."""

import asyncio
from collections.abc import Iterator

import pytest

from ottla.client import AsyncConsumer, Consumer, Producer, TopicPartition
from ottla.testing import EmbeddedBroker

PARTITION = TopicPartition("numbers", 0)
SETTINGS = {"group_id": "readers", "auto_offset_reset": "earliest"}


@pytest.fixture
def bootstrap() -> Iterator[str]:
    with EmbeddedBroker() as broker:
        broker.create_topic(PARTITION.topic)
        with Producer(bootstrap_servers=broker.bootstrap_servers) as producer:
            for number in range(10):
                producer.send(PARTITION.topic, value=b"%d" % number)
        yield broker.bootstrap_servers


def _read_until(bootstrap: str, last: bytes) -> list[bytes]:
    seen = []
    with Consumer(bootstrap_servers=bootstrap, **SETTINGS) as consumer:
        consumer.subscribe([PARTITION.topic])
        for record in consumer:
            seen.append(record.value)
            if record.value == last:
                break
    return seen


def test_the_next_reader_goes_on_behind_the_last_record_that_was_seen(bootstrap: str) -> None:
    assert _read_until(bootstrap, b"2") == [b"0", b"1", b"2"]
    assert _read_until(bootstrap, b"9") == [b"%d" % number for number in range(3, 10)]


def _divide(bootstrap: str) -> None:
    with Consumer(bootstrap_servers=bootstrap, **SETTINGS) as consumer:
        consumer.subscribe([PARTITION.topic])
        for record in consumer:
            assert 1 / (3 - int(record.value))


def test_an_exception_leaves_the_loop_in_the_same_way(bootstrap: str) -> None:
    with pytest.raises(ZeroDivisionError):
        _divide(bootstrap)
    assert _read_until(bootstrap, b"9")[0] == b"4"


def test_the_same_with_asyncio(bootstrap: str) -> None:
    async def read() -> None:
        async with AsyncConsumer(bootstrap_servers=bootstrap, **SETTINGS) as consumer:
            consumer.subscribe([PARTITION.topic])
            async for record in consumer:
                if record.value == b"5":
                    break

    asyncio.run(read())
    assert _read_until(bootstrap, b"9")[0] == b"6"


def test_the_loop_ends_when_the_consumer_is_closed(bootstrap: str) -> None:
    with Consumer(bootstrap_servers=bootstrap, **SETTINGS) as consumer:
        consumer.subscribe([PARTITION.topic])
        records = iter(consumer)
        assert next(records).value == b"0"
    assert len(list(records)) <= 9
