"""The queue between the loop and the user: order, paused partitions, bytes."""

from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.fetch.fetch_buffer import FailedFetch, FetchBuffer
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.errors import ClientError
from ottla.client.record import TopicPartition
from ottla.protocol.records.writer import write_batch


def state(topic: str) -> PartitionState:
    made = PartitionState(TopicPartition(topic, 0))
    made.seek(Position(0))
    return made


def completed(of: PartitionState) -> CompletedFetch:
    records = memoryview(bytes(write_batch([(0, 1, None, b"v", ())])))
    return CompletedFetch(FetchedData(of, of.version, Position(0), records))


def test_bytes_are_counted_until_they_are_taken() -> None:
    buffer, a = FetchBuffer(), state("a")
    fetch = completed(a)
    buffer.put(fetch)
    assert buffer.buffered_bytes == a.buffered_bytes == fetch.size > 0
    assert buffer.head() is fetch
    buffer.drop(fetch)
    assert buffer.buffered_bytes == a.buffered_bytes == 0
    assert buffer.head() is None


def test_what_is_outdated_is_dropped() -> None:
    buffer, a, b = FetchBuffer(), state("a"), state("b")
    old, other = completed(a), completed(b)
    buffer.put(old)
    buffer.put(other)
    a.seek(Position(5))
    assert buffer.head() is other
    assert a.buffered_bytes == 0


def test_a_paused_partition_is_set_aside_and_comes_first_again() -> None:
    buffer, a, b = FetchBuffer(), state("a"), state("b")
    first, second, other = completed(a), completed(a), completed(b)
    for fetch in (first, other, second):
        buffer.put(fetch)
    a.is_paused = True
    assert buffer.head() is other
    buffer.drop(other)
    assert buffer.head() is None
    assert buffer.buffered_bytes == first.size + second.size
    a.is_paused = False
    buffer.resume()
    assert buffer.head() is first
    buffer.drop(first)
    assert buffer.head() is second


def test_set_aside_and_outdated_counts_no_more() -> None:
    buffer, a = FetchBuffer(), state("a")
    buffer.put(completed(a))
    a.is_paused = True
    assert buffer.head() is None
    a.seek(Position(5))
    buffer.resume()
    assert (buffer.head(), buffer.buffered_bytes) == (None, 0)


def test_errors_keep_their_place() -> None:
    buffer, a = FetchBuffer(), state("a")
    fetch, failed = completed(a), FailedFetch(ClientError("no"), a, a.version)
    buffer.put(fetch)
    buffer.put(failed)
    assert buffer.head() is fetch
    buffer.drop(fetch)
    assert buffer.head() is failed
    a.seek(Position(5))
    assert buffer.head() is None
