"""Committed batches in order, transactions as one, listeners told what changed."""

from typing import Any

import pytest

from ottla.base.errors import OttlaError
from ottla.metadata.batch import CommittedBatch
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.local_replica_change import LocalPartition, local_changes
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.metadata.image.snapshot import snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest
from ottla.protocol.metadata_log.feature import FeatureLevelRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.topic import TopicRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)
from tests.unit.metadata.cluster import Cluster, directory_of, uuid_of
from tests.unit.metadata.test_partition import reassign

VERSION = FeatureLevelRecord(name="metadata.version", feature_level=30)
BEGIN, END, ABORT = BeginTransactionRecord(), EndTransactionRecord(), AbortTransactionRecord()


class ListenerError(OttlaError):
    """What a listener may meet."""


class Diary:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.entries: list[tuple[int, list[str]]] = []
        self.deltas: list[MetadataDelta] = []

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        self.entries.append((image.provenance.offset, sorted(image.topics.ids)))
        self.deltas.append(delta)


def topic(number: int) -> TopicRecord:
    return TopicRecord(name=f"t{number}", topic_id=uuid_of(number))


def batches(*contents: list[MetadataRecord], base_offset: int = 0) -> list[CommittedBatch]:
    made = []
    for records in contents:
        made.append(CommittedBatch(base_offset, base_offset + max(len(records), 1) - 1, 1, 0, records))
        base_offset = made[-1].last_offset + 1
    return made


@pytest.fixture
def loader() -> MetadataLoader:
    loader = MetadataLoader()
    loader.load(batches([VERSION]))
    return loader


@pytest.fixture
def diary(loader: MetadataLoader) -> Diary:
    diary = Diary()
    loader.add_listener(diary)
    diary.entries.clear()
    return diary


class TestBatches:
    def test_many_at_once_are_published_once(self, loader: MetadataLoader, diary: Diary) -> None:
        loader.load(batches([topic(1)], [], [topic(2)], base_offset=1))
        assert diary.entries == [(3, ["t1", "t2"])]

    def test_what_was_read_already_is_an_error(self, loader: MetadataLoader) -> None:
        with pytest.raises(MetadataError, match="batch at 0, but the log was read up to 0"):
            loader.load(batches([topic(1)]))

    def test_an_impossible_record_is_an_error(self, loader: MetadataLoader) -> None:
        with pytest.raises(MetadataError, match="topic t1 exists as"):
            loader.load(batches([topic(1)], [TopicRecord(name="t1", topic_id=uuid_of(9))], base_offset=1))

    def test_nothing_is_published_for_nothing(self, loader: MetadataLoader, diary: Diary) -> None:
        loader.load([])
        assert diary.entries == []


class TestFailures:
    class Failing:
        def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
            raise ListenerError(f"at {image.provenance.offset}")

    @pytest.mark.parametrize("error", [ListenerError("cannot"), RuntimeError("a mistake")])
    def test_what_a_listener_missed_it_hears_of_with_the_next_image(
        self, loader: MetadataLoader, error: Exception
    ) -> None:
        class Faltering(Diary):
            fails = False

            def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
                if self.fails:
                    raise error
                super().metadata_changed(delta, image)

        diary, other = Faltering(), Diary()
        loader.add_listener(diary)
        loader.add_listener(other)
        loader.load(batches([topic(1)], base_offset=1))
        diary.fails = True
        for number in (2, 3):
            with pytest.raises(ExceptionGroup):
                loader.load(batches([topic(number)], base_offset=number))
        diary.fails = False
        loader.load(batches([topic(4)], base_offset=4))
        assert diary.entries[-1] == (4, ["t1", "t2", "t3", "t4"])
        assert diary.deltas[-1].topics.created == {f"t{number}": uuid_of(number) for number in (2, 3, 4)}
        loader.load(batches([topic(5)], base_offset=5))
        assert diary.deltas[-1].topics.created == other.deltas[-1].topics.created == {"t5": uuid_of(5)}

    def test_of_one_listener_hide_nothing_from_the_others(self, loader: MetadataLoader) -> None:
        with pytest.raises(ListenerError):
            loader.add_listener(self.Failing())
        diary = Diary()
        loader.add_listener(diary)
        diary.entries.clear()
        with pytest.raises(ExceptionGroup) as raised:
            loader.load(batches([topic(1)], [BEGIN, topic(2)], [END], base_offset=1))
        assert [str(error) for error in raised.value.exceptions] == ["at 1", "at 4"]
        assert diary.entries == [(1, ["t1"]), (4, ["t1", "t2"])]
        assert loader.last_offset == 4
        records = [record for record, _ in snapshot_records(loader.image)]
        with pytest.raises(ExceptionGroup):
            loader.load_snapshot(records, Provenance(9, 1, 0))
        assert diary.entries[2:] == [(9, ["t1", "t2"])]


class TestTransactions:
    def test_take_effect_at_their_end(self, loader: MetadataLoader, diary: Diary) -> None:
        loader.load(batches([BEGIN, topic(1)], base_offset=1))
        assert (diary.entries, loader.in_transaction, loader.last_offset) == ([], True, 2)
        loader.load(batches([topic(2), END], base_offset=3))
        assert diary.entries == [(4, ["t1", "t2"])]
        assert not loader.in_transaction

    def test_leave_nothing_when_aborted(self, loader: MetadataLoader, diary: Diary) -> None:
        loader.load(batches([BEGIN, topic(1)], [ABORT], base_offset=1))
        assert diary.entries == [(3, [])]

    def test_what_came_before_is_published_before(self, loader: MetadataLoader, diary: Diary) -> None:
        loader.load(batches([topic(1)], [topic(2), BEGIN, topic(3)], base_offset=1))
        assert diary.entries == [(2, ["t1", "t2"])]
        assert not loader.is_batch_aligned
        loader.load(batches([END], base_offset=5))
        assert loader.is_batch_aligned
        assert diary.entries[1:] == [(5, ["t1", "t2", "t3"])]

    @pytest.mark.parametrize("records", [[BEGIN, BEGIN], [END], [ABORT]])
    def test_must_be_well_formed(self, loader: MetadataLoader, records: list[Any]) -> None:
        with pytest.raises(MetadataError, match="Transaction"):
            loader.load(batches(records, base_offset=1))


class TestListeners:
    def test_a_late_one_hears_of_everything(self, loader: MetadataLoader) -> None:
        loader.load(batches([topic(1)], base_offset=1))
        diary = Diary()
        loader.add_listener(diary)
        assert diary.entries == [(1, ["t1"])]
        assert diary.deltas[0].topics.created == {"t1": uuid_of(1)}
        loader.remove_listener(diary)
        loader.load(batches([topic(2)], base_offset=2))
        assert len(diary.entries) == 1

    def test_an_early_one_waits_for_the_first_image(self) -> None:
        loader = MetadataLoader()
        diary = Diary()
        loader.add_listener(diary)
        assert diary.entries == []


class TestSnapshots:
    def test_listeners_hear_of_the_difference(self) -> None:
        old, new = Cluster(seed=1), Cluster(seed=2)
        for cluster in (old, new):
            cluster.start(1, 2)
        old.create("gone", [1, 2], cleanup_policy="compact")
        new.create("fresh", [2, 1])
        new.fence(1)
        diary = Diary()
        old.loader.add_listener(diary)
        records = [record for record, _ in snapshot_records(new.image)]
        old.loader.load_snapshot(records, Provenance(1_000, 5, 0))
        assert old.loader.image.provenance == Provenance(1_000, 5, 0)
        assert diary.entries[-1] == (1_000, ["fresh"])
        delta = diary.deltas[-1]
        assert [topic.name for topic in delta.topics.deleted.values()] == ["gone"]
        assert set(delta.topics.created) == {"fresh"}
        assert set(delta.cluster.brokers.changes) == {1}
        assert old.loader.image.topics == new.image.topics
        assert old.loader.image.configs == new.image.configs


class TestLocalChanges:
    def test_a_broker_learns_what_it_leads_follows_and_lets_go(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        diary = Diary()
        cluster.loader.add_listener(diary)
        cluster.create("t", [1, 2])
        place = LocalPartition("t", cluster.image.topics.ids["t"], 0)
        led, followed = (local_changes(diary.deltas[-1].topics, broker_id) for broker_id in (1, 2))
        assert (set(led.leaders), set(led.elected), led.directories) == ({place}, {place}, {place: directory_of(1)})
        assert (set(followed.followers), followed.leaders) == ({place}, {})
        cluster.alter_isr("t", 0, [1])
        led = local_changes(diary.deltas[-1].topics, 1)
        assert (set(led.leaders), led.elected, led.directories) == ({place}, {}, {})
        cluster.ask(DeleteTopicsRequest(timeout_ms=1_000, topic_names=["t"]))
        assert local_changes(diary.deltas[-1].topics, 2).deleted == [place]

    def test_a_replica_that_was_moved_away_is_let_go(self) -> None:
        cluster = Cluster()
        cluster.start(1, 2)
        diary = Diary()
        cluster.loader.add_listener(diary)
        cluster.create("t", [1, 2])
        reassign(cluster, "t", [1])
        place = LocalPartition("t", cluster.image.topics.ids["t"], 0)
        assert local_changes(diary.deltas[-1].topics, 2).deleted == [place]
