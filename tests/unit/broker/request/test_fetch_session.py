"""Which sessions are kept, which partitions are told, and in which order they are read."""

import pytest

from ottla.base.metric import MetricRegistry
from ottla.base.metric_text import render
from ottla.broker.request import fetch_session
from ottla.broker.request.fetch_session import (
    EVICTION_MS,
    FetchedPartition,
    FetchSession,
    FetchSessionCache,
    SessionPartition,
)
from ottla.protocol.fetch_session import next_epoch
from ottla.replication.request.fetch import FetchPartition, FetchResult
from ottla.storage.leader_epoch.checkpoint import EpochEntry
from ottla.storage.segment.slice import FileSlice
from tests.unit.broker.small_broker import HandClock

RECORDS = FileSlice(None, 0, 5)  # type: ignore[arg-type]


def partition(index: int, topic: str = "t") -> SessionPartition:
    return SessionPartition((topic, index), FetchPartition(topic, index, 0, 1000))


def outcomes(count: int) -> list[FetchedPartition]:
    return [(partition(index), FetchResult(0, None, 0, 0, 0)) for index in range(count)]


class Cached:
    """A cache of a few slots, and hands on its clock."""

    def __init__(self, slots: int) -> None:
        self.clock = HandClock()
        self.metrics = MetricRegistry()
        self.cache = FetchSessionCache(slots, self.clock, self.metrics)

    def create(self, size: int = 1, *, is_follower: bool = False) -> FetchSession | None:
        return self.cache.create(outcomes(size), by_id=False, is_follower=is_follower)

    def must_create(self, size: int = 1, *, is_follower: bool = False) -> FetchSession:
        session = self.create(size, is_follower=is_follower)
        assert session is not None
        return session

    def has(self, session: FetchSession) -> bool:
        return self.cache.get(session.id) is session


@pytest.mark.parametrize(("epoch", "following"), [(0, 1), (1, 2), (2**31 - 1, 1)])
def test_epochs_wrap_to_one(epoch: int, following: int) -> None:
    assert next_epoch(epoch) == following


def test_sessions_have_ids_of_their_own() -> None:
    cached = Cached(100)
    ids = {cached.must_create().id for _ in range(100)}
    assert len(ids) == 100
    assert all(0 < session_id < 2**31 for session_id in ids)


def test_without_slots_there_are_no_sessions() -> None:
    assert Cached(0).create() is None


def test_young_sessions_are_not_displaced_by_consumers() -> None:
    cached = Cached(1)
    first = cached.must_create(1)
    assert cached.create(50) is None
    assert cached.has(first)


def test_idle_sessions_make_room() -> None:
    cached = Cached(2)
    idle, busy = cached.must_create(9), cached.must_create(9)
    cached.clock.ms += EVICTION_MS
    cached.cache.touch(busy)
    assert cached.create() is None
    cached.clock.ms += 1
    assert cached.create() is not None
    assert not cached.has(idle)
    assert cached.has(busy)


def test_an_old_small_session_yields_to_a_larger_one() -> None:
    cached = Cached(2)
    small, large = cached.must_create(3), cached.must_create(5)
    cached.clock.ms += EVICTION_MS + 1
    for session in (small, large):
        cached.cache.touch(session)
    assert cached.create(3) is None
    assert cached.create(4) is not None
    assert (cached.has(small), cached.has(large)) == (False, True)


def test_followers_displace_young_consumers_but_not_young_followers() -> None:
    cached = Cached(2)
    consumer, follower = cached.must_create(5), cached.must_create(1, is_follower=True)
    newcomer = cached.must_create(1, is_follower=True)
    assert (cached.has(consumer), cached.has(follower), cached.has(newcomer)) == (False, True, True)
    assert cached.create(9, is_follower=True) is None


def test_consumers_never_displace_followers_while_they_are_used() -> None:
    cached = Cached(1)
    follower = cached.must_create(1, is_follower=True)
    cached.clock.ms += EVICTION_MS + 1
    cached.cache.touch(follower)
    assert cached.create(99) is None
    assert cached.create(2, is_follower=True) is not None


def test_a_session_that_grows_is_worth_more() -> None:
    cached = Cached(2)
    first, second = cached.must_create(1), cached.must_create(2)
    first.update([partition(index) for index in range(5)], ())
    cached.clock.ms += EVICTION_MS + 1
    cached.cache.touch(first)
    cached.cache.touch(second)
    cached.must_create(3)
    assert (cached.has(first), cached.has(second)) == (True, False)


@pytest.fixture
def hundred(monkeypatch: pytest.MonkeyPatch) -> Cached:
    """Many slots, for a hundred partitions in all."""
    monkeypatch.setattr(fetch_session, "PARTITIONS_MAX", 100)
    return Cached(1_000)


def test_partitions_are_bounded_over_all_sessions(hundred: Cached) -> None:
    first = hundred.must_create(60)
    assert hundred.create(41) is None
    second = hundred.must_create(40)
    assert hundred.create(1) is None
    assert hundred.has(first)
    hundred.cache.remove(first.id)
    assert hundred.create(61) is None
    assert hundred.has(second)
    hundred.must_create(60)


def test_a_session_that_could_never_fit_displaces_none(hundred: Cached) -> None:
    small = hundred.must_create(1)
    hundred.clock.ms += EVICTION_MS + 1
    assert hundred.create(101, is_follower=True) is None
    assert hundred.has(small)


def test_a_large_session_takes_the_place_of_several(hundred: Cached) -> None:
    small = [hundred.must_create(20) for _ in range(5)]
    hundred.clock.ms += EVICTION_MS + 1
    for session in small:
        hundred.cache.touch(session)
    large = hundred.must_create(50)
    assert [hundred.has(session) for session in small].count(True) == 2
    assert hundred.has(large)


def test_followers_get_room_for_their_partitions(hundred: Cached) -> None:
    consumers = [hundred.must_create(50) for _ in range(2)]
    follower = hundred.must_create(70, is_follower=True)
    assert hundred.has(follower)
    assert not any(map(hundred.has, consumers))


def test_a_session_that_grows_beyond_the_room_is_gone(hundred: Cached) -> None:
    kept, grown = hundred.must_create(60), hundred.must_create(10)
    grown.update([partition(index) for index in range(30)], ())
    assert hundred.cache.touch(grown)
    grown.update([partition(index) for index in range(41)], ())
    assert not hundred.cache.touch(grown)
    assert not hundred.has(grown)
    assert hundred.has(kept)
    hundred.must_create(40)


def test_a_session_that_shrinks_gives_room(hundred: Cached) -> None:
    session = hundred.must_create(100)
    session.update((), [("t", index) for index in range(50)])
    assert hundred.cache.touch(session)
    hundred.must_create(50)


def test_removed_sessions_leave_no_trace() -> None:
    cached = Cached(3)
    session = cached.must_create(4)
    assert cached.cache.remove(session.id) is session
    assert cached.cache.remove(session.id) is None
    assert len(cached.cache) == 0
    assert "numincrementalfetchpartitionscached 0" in render(cached.metrics)


def test_metrics_count_sessions_partitions_and_evictions() -> None:
    cached = Cached(2)
    for _ in range(2):
        cached.must_create(3)
    cached.must_create(1, is_follower=True)
    text = render(cached.metrics)
    assert "kafka_server_fetchsessioncache_numincrementalfetchsessions 2" in text
    assert "kafka_server_fetchsessioncache_numincrementalfetchpartitionscached 4" in text
    assert "kafka_server_fetchsessioncache_incrementalfetchsessionevictions_total 1" in text


QUIET = FetchResult(0, None, 10, 10, 2)


@pytest.mark.parametrize(
    ("result", "is_told"),
    [
        (QUIET, False),
        (QUIET._replace(records=RECORDS), True),
        (QUIET._replace(high_watermark=11), True),
        (QUIET._replace(last_stable_offset=9), False),
        (QUIET._replace(log_start_offset=3), True),
        (QUIET._replace(preferred_read_replica=4), True),
        (QUIET._replace(diverging_epoch=EpochEntry(1, 2)), True),
        (FetchResult(6), True),
    ],
)
def test_only_news_is_told(result: FetchResult, is_told: bool) -> None:
    watched = partition(0)
    watched.told(QUIET)
    assert watched.told(result) is is_told


def test_errors_are_told_every_time_and_so_is_their_end() -> None:
    watched = partition(0)
    watched.told(QUIET)
    assert [watched.told(result) for result in (FetchResult(6), FetchResult(6), QUIET, QUIET)] == [
        True,
        True,
        True,
        False,
    ]


def test_partitions_that_had_records_are_read_last_the_next_time() -> None:
    session = Cached(1).must_create(3)
    members = list(session.partitions.values())
    told = session.select([(members[0], QUIET._replace(records=RECORDS)), (members[1], QUIET)])
    assert [member.key[1] for member, _ in told] == [0, 1]
    assert [key[1] for key in session.partitions] == [1, 2, 0]


def test_updates_add_change_and_forget() -> None:
    session = Cached(1).must_create(2)
    moved = SessionPartition(("t", 1), FetchPartition("t", 1, 500, 1000))
    session.update([moved, partition(7)], [("t", 0), ("t", 99)])
    assert [member.wanted.fetch_offset for member in session.partitions.values()] == [500, 0]
    assert [key[1] for key in session.partitions] == [1, 7]


def test_a_deleted_topic_keeps_the_name_it_had() -> None:
    session = Cached(1).must_create(1)
    session.update([SessionPartition(("t", 0), FetchPartition("", 0, 5, 1000))], ())
    [member] = session.partitions.values()
    assert (member.wanted.topic, member.wanted.fetch_offset) == ("t", 5)
