"""A shard of offsets against a plain model: a list of what was written, and a dictionary of what that comes to.

Commits, transactions, failed appends, a high watermark that lags, and leaders that come and go, of whom the next may
lack what was not committed. Reads see what the committed part of the list comes to; answers come exactly when what
they speak of is committed.
"""

from functools import partial
from typing import Any, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.coordinator.group.offsets.commit import CommitContext, commit, commit_transactional
from ottla.coordinator.group.offsets.deletion import delete_all
from ottla.coordinator.group.offsets.offsets_state import OffsetsState
from ottla.coordinator.ports import TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.coordinator.runtime.metadata_view import ImageView
from ottla.coordinator.runtime.shard import Shard
from ottla.metadata.image.metadata_image import EMPTY_IMAGE
from ottla.protocol.errors import ApiError, CoordinatorLoadInProgressError, NotEnoughReplicasError
from tests.unit.coordinator.offsets.fake import commit_request, opened, txn_request
from tests.unit.coordinator.runtime.fake import MemoryLog

Place = tuple[str, str, int]
PLACES = st.tuples(st.sampled_from(["g", "h"]), st.sampled_from(["t", "u"]), st.integers(0, 1))
OFFSETS = st.integers(0, 1_000)
PRODUCERS = st.integers(1, 2)
METADATA = ImageView(lambda: EMPTY_IMAGE)


class Entry(NamedTuple):
    """A record of the model's log: an offset, plain or of a producer; a deletion; or the end of a transaction."""

    place: Place | None
    offset: int | None = None
    producer_id: int | None = None
    committed: bool = False


def come_to(entries: list[Entry]) -> tuple[dict[Place, int], dict[tuple[int, Place], int]]:
    """What is committed, and what is pending, after all of `entries`."""
    written: dict[Place, tuple[int, int]] = {}
    pending: dict[tuple[int, Place], tuple[int, int]] = {}
    for index, (place, offset, producer_id, committed) in enumerate(entries):
        if place is None:
            for owner, ended in [key for key in pending if key[0] == producer_id]:
                value = pending.pop((owner, ended))
                if committed and value[0] > written.get(ended, (-1, -1))[0]:
                    written[ended] = value
        elif offset is None:
            written.pop(place, None)
            pending = {key: value for key, value in pending.items() if key[1] != place}
        elif producer_id is None:
            written[place] = (index, offset)
        else:
            pending[producer_id, place] = (index, offset)
    return {key: value[1] for key, value in written.items()}, {key: value[1] for key, value in pending.items()}


def committed_in(state: OffsetsState) -> dict[Place, int]:
    return {
        (group, topic, partition): stored.offset
        for group, topics in state.committed.items()
        for topic, partitions in topics.items()
        for partition, stored in partitions.items()
    }


def pending_in(state: OffsetsState) -> dict[tuple[int, Place], int]:
    return {
        (producer_id, (group, topic, partition)): stored.offset
        for producer_id, offsets in state.pending.items()
        for group, topics in offsets.items()
        for topic, partitions in topics.items()
        for partition, stored in partitions.items()
    }


class OffsetsShard(RuleBasedStateMachine):
    """One partition of `__consumer_offsets` over the reigns of several leaders."""

    @initialize()
    def start(self) -> None:
        self.log = MemoryLog(batch_bytes_max=1_000)
        self.shard: Shard[OffsetsState] = opened(self.log)
        self.written: list[Entry] = []
        self.open: list[Entry] = []
        self.loaded_end = self.high_watermark = 0
        self.waiting: list[tuple[int, int]] = []
        """An operation's number and where its records end."""
        self.answered: dict[int, Any] = {}
        self.asked = 0

    @rule(places=st.lists(st.tuples(PLACES, OFFSETS), min_size=1, max_size=3))
    def commit(self, places: list[tuple[Place, int]]) -> None:
        group = places[0][0][0]
        offsets = [(topic, partition, offset) for (_, topic, partition), offset in places]
        operation = partial(self._commit, commit_request(group, offsets))
        entries = [Entry((group, topic, partition), offset) for topic, partition, offset in offsets]
        self._write(operation, entries)

    @rule(group=st.sampled_from(["g", "h"]))
    def delete_group(self, group: str) -> None:
        records = delete_all(self.shard.state, group)
        entries = [Entry((group, record.key.topic, record.key.partition)) for record in records]
        self._write(lambda *_: CoordinatorResult(records, "deleted"), entries)

    @rule()
    def look(self) -> None:
        self._write(lambda *_: CoordinatorResult((), "seen"), [])

    @rule(place=PLACES, offset=OFFSETS, producer_id=PRODUCERS, fails=st.booleans())
    def commit_in_transaction(self, place: Place, offset: int, producer_id: int, *, fails: bool) -> None:
        self.flush()
        group, topic, partition = place
        request = txn_request(group, [(topic, partition, offset)])
        operation = lambda _, now_ms: commit_transactional(None, request, METADATA, CommitContext(3, now_ms))  # noqa: E731
        producer = TransactionalProducer("tx", producer_id, 0)
        number = self._ask(len(self.written) + 1, fails=fails)
        self._append(lambda done: self.shard.write_transactional(operation, producer, done, 0), number, fails=fails)
        if not fails:
            self.written.append(Entry(place, offset, producer_id))

    @rule(producer_id=PRODUCERS, committed=st.booleans(), fails=st.booleans())
    def end_transaction(self, producer_id: int, *, committed: bool, fails: bool) -> None:
        self.flush()
        marker = TransactionMarker(producer_id, 0, 0, committed=committed)
        number = self._ask(len(self.written) + 1, fails=fails)
        self._append(lambda done: self.shard.write_marker(marker, done, 0), number, fails=fails)
        if not fails:
            self.written.append(Entry(None, producer_id=producer_id, committed=committed))

    @rule()
    def flush(self) -> None:
        self.shard.flush(0)
        self.written += self.open
        self.open = []

    @precondition(lambda self: self.open)
    @rule()
    def fail_to_flush(self) -> None:
        self.log.fail_with = NotEnoughReplicasError()
        self.shard.flush(0)
        self.log.fail_with = None
        self.open = []
        lost = [number for number, end in self.waiting if end > len(self.written)]
        assert all(isinstance(self.answered[number], ApiError) for number in lost)
        self.waiting = [(number, end) for number, end in self.waiting if number not in lost]

    @precondition(lambda self: self.high_watermark < len(self.written))
    @rule(data=st.data())
    def commit_log(self, data: st.DataObject) -> None:
        # Followers fetch whole batches, but may have any number of them.
        ends = [batch.end_offset for batch in self.log.batches if batch.end_offset > self.high_watermark]
        self.high_watermark = data.draw(st.sampled_from(ends))
        self.shard.committed(self.high_watermark)

    @rule(data=st.data())
    def change_leader(self, data: st.DataObject) -> None:
        """The next leader has all that was committed, and maybe more; it may not know of the high watermark yet."""
        self.shard.unload()
        assert all(number in self.answered for number, _ in self.waiting)
        self.waiting, self.open = [], []
        ends = [0, *(batch.end_offset for batch in self.log.batches)]
        end = data.draw(st.sampled_from([end for end in ends if end >= self.high_watermark]))
        known = data.draw(st.sampled_from([known for known in ends if known <= self.high_watermark]))
        self.log.truncate_to(end)
        del self.written[end:]
        self.shard = Shard(0, self.shard.machine, self.log, self.shard.timers)
        self.shard.committed(known)
        self.log.load_into(self.shard)
        self.loaded_end, self.high_watermark = end, max(known, self.high_watermark)
        self.shard.committed(self.high_watermark)

    @invariant()
    def reads_see_what_is_committed_and_nothing_else(self) -> None:
        try:
            found = self.shard.read(lambda state: state)
        except CoordinatorLoadInProgressError:
            assert self.high_watermark < self.loaded_end
            return
        committed, pending = come_to(self.written[: self.high_watermark])
        assert committed_in(found) == committed
        assert pending_in(found) == pending
        assert found.committed_count == len(committed)

    @invariant()
    def the_newest_state_is_what_was_decided(self) -> None:
        committed, pending = come_to(self.written + self.open)
        assert committed_in(self.shard.state) == committed
        assert pending_in(self.shard.state) == pending

    @invariant()
    def answers_come_when_what_they_speak_of_is_committed(self) -> None:
        for number, end in self.waiting:
            assert (number in self.answered) == (end <= self.high_watermark)

    def _commit(self, request: Any, _state: OffsetsState, now_ms: int) -> CoordinatorResult:
        return commit(None, request, CommitContext(8, now_ms))

    def _write(self, operation: Any, entries: list[Entry]) -> None:
        before = len(self.log.batches)
        number = self.asked = self.asked + 1
        self.shard.write(operation, partial(self.answered.__setitem__, number), 0)
        if len(self.log.batches) > before:
            self.written += self.open
            self.open = []
        self.open += entries
        self.waiting.append((number, len(self.written) + len(self.open)))

    def _ask(self, end: int, *, fails: bool) -> int:
        self.asked += 1
        if not fails:
            self.waiting.append((self.asked, end))
        return self.asked

    def _append(self, append: Any, number: int, *, fails: bool) -> None:
        self.log.fail_with = NotEnoughReplicasError() if fails else None
        append(partial(self.answered.__setitem__, number))
        self.log.fail_with = None
        if fails:
            assert isinstance(self.answered[number], ApiError)


TestOffsetsShard = OffsetsShard.TestCase
TestOffsetsShard.settings = settings(deadline=None)
