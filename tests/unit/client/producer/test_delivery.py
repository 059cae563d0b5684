"""What those who sent a record hear of it."""

import asyncio
import logging
import threading
from collections.abc import Callable

import pytest

from ottla.client.producer.accumulator import Accumulator
from ottla.client.producer.append import SendFuture
from ottla.client.producer.new_record import NewRecord
from ottla.client.record import RecordMetadata
from ottla.protocol.errors import InvalidRecordError, KafkaStorageError

NOW = 1_794_800_000_000


@pytest.fixture
def futures(make_accumulator: Callable[..., Accumulator]) -> list[SendFuture]:
    """Three records of one batch."""
    accumulator = make_accumulator()
    made = [accumulator.append(*NewRecord("t", b"%d" % number, b"k", 1, NOW)) for number in range(3)]
    return [future for future in made if future is not None]


def test_metadata_of_each_record(futures: list[SendFuture]) -> None:
    assert not futures[0].done()
    assert "pending" in repr(futures[0])
    futures[0].batch.complete(40)
    assert [future.result() for future in futures] == [
        RecordMetadata("t", 1, 40 + number, NOW, 1, 1) for number in range(3)
    ]
    assert futures[0].exception() is None
    assert "offset 40" in repr(futures[0])


def test_log_append_time_and_no_offset(futures: list[SendFuture]) -> None:
    futures[0].batch.complete(-1, NOW + 9)
    assert futures[2].result() == RecordMetadata("t", 1, -1, NOW + 9, 1, 1)


def test_each_record_has_its_reason(futures: list[SendFuture]) -> None:
    futures[0].batch.fail(InvalidRecordError("part of a bad batch"), {1: InvalidRecordError("no key")})
    with pytest.raises(InvalidRecordError, match="bad batch"):
        futures[0].result()
    assert str(futures[1].exception()) == "no key"


def test_waiting_threads_are_released(futures: list[SendFuture]) -> None:
    heard: list[int] = []
    threads = [
        threading.Thread(target=lambda future=future: heard.append(future.result(30).offset)) for future in futures
    ]
    for thread in threads:
        thread.start()
    futures[0].batch.complete(7)
    for thread in threads:
        thread.join()
    assert sorted(heard) == [7, 8, 9]


def test_waiting_ends_after_its_time(futures: list[SendFuture]) -> None:
    with pytest.raises(TimeoutError, match="t-1"):
        futures[0].result(timeout=0)


def test_callbacks_in_order_and_failures_are_logged(
    futures: list[SendFuture], caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[int] = []
    futures[1].add_done_callback(lambda _: 1 / 0)
    for future in futures:
        future.add_done_callback(lambda done: heard.append(done.result().offset))
    with caplog.at_level(logging.ERROR):
        futures[0].batch.complete(3)
    assert heard == [3, 4, 5]
    assert "a delivery callback failed" in caplog.text


def test_awaited_in_the_same_loop_and_from_another_thread(futures: list[SendFuture]) -> None:
    async def run() -> list[int]:
        timer = threading.Timer(0, futures[0].batch.complete, (3,))
        timer.start()
        found = await asyncio.gather(*futures)
        timer.join()
        return [metadata.offset for metadata in (*found, await futures[0])]

    assert asyncio.run(run()) == [3, 4, 5, 3]


def test_awaited_failure(futures: list[SendFuture]) -> None:
    async def run() -> None:
        asyncio.get_running_loop().call_soon(futures[0].batch.fail, KafkaStorageError())
        await futures[0]

    with pytest.raises(KafkaStorageError):
        asyncio.run(run())


def test_callbacks_follow_their_records_into_parts(futures: list[SendFuture]) -> None:
    from ottla.protocol.records.writer import BatchOptions

    heard: list[int] = []
    for future in futures:
        future.add_done_callback(lambda done: heard.append(done.result().offset))
    batch = futures[0].batch
    batch.write(BatchOptions(), (-1, -1, -1))
    parts = batch.split(1)
    assert [part.count for part in parts] == [1, 1, 1]
    futures[2].add_done_callback(lambda done: heard.append(-done.result().offset))
    for offset, part in enumerate(parts, 10):
        assert not futures[2].done()
        part.complete(offset)
    assert heard == [10, 11, 12, -12]
