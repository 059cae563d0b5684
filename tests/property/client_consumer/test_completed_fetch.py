"""Whatever lies in a log, and wherever answers begin and end in it: each record is handed out once, in order."""

import random
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from ottla.client.consumer.fetch.completed_fetch import CompletedFetch, FetchedData
from ottla.client.consumer.fetch.record import Record, RecordSource
from ottla.client.consumer.subscription_state import PartitionState, Position
from ottla.client.record import TopicPartition
from ottla.protocol.messages.fetch import AbortedTransaction
from ottla.protocol.records.reader import ReadOptions, read_tuples
from tests.clients.odd_log import OddLog, Seen, digest

PARTITION = TopicPartition("odd", 0)
SOURCE = RecordSource(*PARTITION)
SEEDS = st.integers(0, 2**32)


class Broker:
    """Answers fetches as brokers do: from the batch that holds the offset, in whole batches and the part of one."""

    def __init__(self, log: OddLog, dice: random.Random, *, is_committed_only: bool) -> None:
        self._log = log
        self._dice = dice
        self._end = log.stable if is_committed_only else log.end
        self._is_committed_only = is_committed_only

    def answer(self, offset: int) -> FetchedData | None:
        """What lies at an offset; None at the end."""
        batches = [(base, data) for base, data in self._log.batches if base < self._end]
        ends = [*(base for base, _ in batches), self._end][1:]
        found = [(end, data) for end, (_, data) in zip(ends, batches, strict=True) if end > offset]
        if not found:
            return None
        count = self._dice.randrange(1, 6)
        some, rest = found[:count], found[count:]
        data = b"".join(data for _, data in some)
        if rest:
            data += rest[0][1][: self._dice.randrange(len(rest[0][1]))]
        last = some[-1][0]
        aborted = [
            AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset)
            for each in self._log.aborted
            if each.first_offset < last and each.last_offset >= offset
        ]
        self._dice.shuffle(aborted)
        named = aborted if self._is_committed_only else None
        return FetchedData(PartitionState(PARTITION), 0, Position(offset), memoryview(data), named)


def read(broker: Broker, take: Callable[[CompletedFetch], list[Seen]], offset: int) -> list[Seen]:
    """All records from an offset on, answer by answer."""
    found: list[Seen] = []
    while (answer := broker.answer(offset)) is not None:
        fetch = CompletedFetch(answer)
        found += take(fetch)
        assert fetch.position == fetch.end
        assert fetch.position.offset > offset
        offset = fetch.position.offset
    return found


def by_records(dice: random.Random) -> Callable[[CompletedFetch], list[Seen]]:
    """Some at a time, and at last none."""

    def take(fetch: CompletedFetch) -> list[Seen]:
        out: list[Record] = []
        while not fetch.is_drained:
            before, position = len(out), fetch.position
            fetch.take(out, dice.randrange(1, 10), SOURCE)
            assert len(out) > before or fetch.is_drained or fetch.position != position
        return [Seen(each.offset, each.timestamp, each.key, each.value, each.headers) for each in out]

    return take


def by_bytes(fetch: CompletedFetch) -> list[Seen]:
    """As Arrow columns are made: the bytes of what is left."""
    options = ReadOptions(from_offset=fetch.position.offset)
    found = [Seen(*each) for piece in fetch.take_data() for each in read_tuples(piece, options)]
    fetch.finish()
    return found


def by_both(dice: random.Random) -> Callable[[CompletedFetch], list[Seen]]:
    """Some records, then the rest as bytes, which are put back once and taken again."""

    def take(fetch: CompletedFetch) -> list[Seen]:
        out: list[Record] = []
        fetch.take(out, dice.randrange(1, 20), SOURCE)
        found = [Seen(each.offset, each.timestamp, each.key, each.value, each.headers) for each in out]
        if dice.random() < 0.5:
            fetch.take_data()
            fetch.rewind()
        return found + by_bytes(fetch)

    return take


@given(SEEDS, st.booleans(), st.sampled_from(["records", "bytes", "both"]))
def test_each_record_once_and_in_order(seed: int, is_committed_only: bool, way: str) -> None:
    dice = random.Random(seed)
    log = OddLog(seed, steps=25)
    ways = {"records": by_records(dice), "bytes": by_bytes, "both": by_both(dice)}
    offset = dice.randrange(log.end + 1)
    found = read(Broker(log, dice, is_committed_only=is_committed_only), ways[way], offset)
    records = log.committed if is_committed_only else log.uncommitted
    assert [*map(digest, found)] == [digest(each) for each in records if each.offset >= offset]
