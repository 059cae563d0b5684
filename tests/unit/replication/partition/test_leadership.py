import pytest
from immutables import Map

from ottla.base.ids import ZERO_UUID
from ottla.metadata.image.cluster import BrokerRegistration, ClusterImage
from ottla.metadata.image.partition import PartitionRegistration
from ottla.protocol.errors import NotLeaderOrFollowerError
from ottla.replication.partition.cluster_view import ClusterView
from ottla.replication.partition.follower_progress import FollowerFetch
from ottla.replication.partition.leadership import Leadership

LAG_MS = 1000


def broker(broker_id: int, *, epoch: int = 1, fenced: bool = False, leaving: bool = False) -> BrokerRegistration:
    return BrokerRegistration(broker_id, epoch, ZERO_UUID, (), Map(), None, fenced, leaving, (), None)


def cluster(*brokers: BrokerRegistration) -> ClusterImage:
    return ClusterImage(Map({registration.id: registration for registration in brokers}), Map())


def registration(
    *isr: int, replicas: tuple[int, ...] = (1, 2, 3), epoch: int = 0, elr: tuple[int, ...] = ()
) -> PartitionRegistration:
    return PartitionRegistration(replicas, (), isr, (), (), elr, (), 1, 0, epoch, epoch)


@pytest.fixture
def view() -> ClusterView:
    view = ClusterView(1, LAG_MS)
    view.cluster = cluster(broker(1), broker(2), broker(3))
    return view


def lead(view: ClusterView, *isr: int, log_end_offset: int = 100, now_ms: int = 0) -> Leadership:
    leadership = Leadership(view, 0)
    leadership.update(registration(*isr))
    leadership.begin_epoch(0, log_end_offset, now_ms, is_new_leader=True)
    return leadership


def fetch(leadership: Leadership, broker_id: int, offset: int, *, end: int, now_ms: int, epoch: int = 1) -> None:
    leadership.follower_fetched(FollowerFetch(broker_id, epoch, offset, 0), end, now_ms)


def test_the_high_watermark_is_where_the_slowest_of_the_isr_is(view: ClusterView) -> None:
    leadership = lead(view, 1, 2, 3)
    fetch(leadership, 2, 90, end=100, now_ms=1)
    assert leadership.high_watermark(100, 1) == -1, "3 has not been heard of"
    fetch(leadership, 3, 80, end=100, now_ms=2)
    assert leadership.high_watermark(100, 1) == 80


def test_who_is_out_of_sync_for_long_does_not_hold_it_back(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    fetch(leadership, 2, 100, end=100, now_ms=1)
    fetch(leadership, 3, 10, end=100, now_ms=5000)
    assert leadership.high_watermark(100, 1) == 100


def test_who_is_about_to_join_is_waited_for(view: ClusterView) -> None:
    """Else it would run after the high watermark for ever."""
    leadership = lead(view, 1)
    fetch(leadership, 2, 100, end=100, now_ms=1)
    assert leadership.high_watermark(110, 1) == 100
    view.cluster = cluster(broker(1), broker(2, fenced=True))
    assert leadership.high_watermark(110, 1) == 110, "a fenced broker cannot join"


def test_who_was_taken_out_of_the_isr_is_not_waited_for_until_it_fetches_again(view: ClusterView) -> None:
    """Its disk may have failed, and it had everything a moment ago."""
    leadership = lead(view, 1, 2, 3)
    for broker_id in (2, 3):
        fetch(leadership, broker_id, 100, end=100, now_ms=LAG_MS + 1)
    fetch(leadership, 2, 110, end=110, now_ms=LAG_MS + 2)
    assert leadership.high_watermark(110, 1) == 100
    leadership.update(registration(1, 2, epoch=1))
    assert leadership.high_watermark(110, 1) == 110
    fetch(leadership, 3, 110, end=110, now_ms=LAG_MS + 3)
    assert leadership.high_watermark(120, 1) == 110, "now it is about to join"


def test_with_too_few_in_sync_nothing_is_committed(view: ClusterView) -> None:
    leadership = lead(view, 1)
    assert leadership.high_watermark(100, 2) is None
    assert leadership.high_watermark(100, 1) == 100


# Expanding


def test_a_follower_joins_when_it_has_what_is_committed(view: ClusterView) -> None:
    leadership = lead(view, 1, 2, log_end_offset=50)
    fetch(leadership, 3, 79, end=100, now_ms=1)
    assert leadership.expand(3, 80) is None
    fetch(leadership, 3, 80, end=100, now_ms=1)
    proposed = leadership.expand(3, 80)
    assert proposed is not None
    assert [(member.broker_id, member.broker_epoch) for member in proposed.isr] == [(1, 1), (2, -1), (3, 1)]
    assert leadership.isr.maximal == {1, 2, 3}
    assert leadership.expand(3, 80) is None, "one proposal at a time"


def test_a_follower_has_to_reach_the_start_of_the_epoch(view: ClusterView) -> None:
    leadership = lead(view, 1, log_end_offset=100)
    fetch(leadership, 2, 90, end=100, now_ms=1)
    assert leadership.expand(2, 80) is None
    fetch(leadership, 2, 100, end=100, now_ms=1)
    assert leadership.expand(2, 80) is not None


@pytest.mark.parametrize(
    "other", [broker(2, fenced=True), broker(2, leaving=True), broker(2, epoch=5), broker(9)], ids=str
)
def test_who_is_fenced_leaving_restarted_or_unknown_does_not_join(other: BrokerRegistration, view: ClusterView) -> None:
    leadership = lead(view, 1)
    fetch(leadership, 2, 100, end=100, now_ms=1)
    view.cluster = cluster(broker(1), other)
    assert leadership.expand(2, 100) is None


def test_a_broker_that_does_not_say_its_epoch_may_join(view: ClusterView) -> None:
    leadership = lead(view, 1)
    fetch(leadership, 2, 100, end=100, now_ms=1, epoch=-1)
    assert leadership.expand(2, 100) is not None


def test_a_fetch_of_a_former_incarnation_is_refused(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    view.cluster = cluster(broker(1), broker(2, epoch=7))
    with pytest.raises(NotLeaderOrFollowerError):
        fetch(leadership, 2, 100, end=100, now_ms=1, epoch=6)
    assert leadership.followers[2].log_end_offset == -1


# Shrinking


def test_who_lags_behind_for_too_long_is_left_out(view: ClusterView) -> None:
    leadership = lead(view, 1, 2, 3)
    fetch(leadership, 2, 100, end=100, now_ms=500)
    fetch(leadership, 3, 99, end=100, now_ms=500)
    assert leadership.shrink(100, LAG_MS) is None
    proposed = leadership.shrink(100, LAG_MS + 1)
    assert proposed is not None
    assert [member.broker_id for member in proposed.isr] == [1, 2]
    assert leadership.isr.maximal == {1, 2, 3}, "until the controller agrees it is waited for"
    assert leadership.shrink(200, 9000) is None, "one proposal at a time"


def test_who_has_everything_is_never_left_out(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    fetch(leadership, 2, 100, end=100, now_ms=1)
    assert leadership.shrink(100, 1_000_000) is None


def test_always_a_few_records_behind_is_in_sync(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    for step in range(1, 50):
        fetch(leadership, 2, 90 + 10 * step, end=100 + 10 * step, now_ms=100 * step)
        assert leadership.shrink(100 + 10 * step, 100 * step) is None


def test_a_new_leader_gives_everybody_in_the_isr_the_whole_lag_time(view: ClusterView) -> None:
    leadership = lead(view, 1, 2, now_ms=10_000)
    assert leadership.shrink(100, 10_000 + LAG_MS) is None
    assert leadership.shrink(100, 10_001 + LAG_MS) is not None


def test_in_a_new_epoch_of_the_same_leader_positions_stay(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    fetch(leadership, 2, 100, end=100, now_ms=1)
    leadership.update(registration(1, 2, epoch=1))
    leadership.begin_epoch(1, 120, 50, is_new_leader=False)
    assert leadership.high_watermark(120, 1) == 100


def test_replicas_that_are_gone_count_no_more(view: ClusterView) -> None:
    leadership = lead(view, 1, 2)
    leadership.update(registration(1, replicas=(1,), epoch=1))
    assert leadership.high_watermark(100, 3) == 100
    assert not leadership.is_under_replicated


# Low watermark


def begins(leadership: Leadership, broker_id: int, start: int) -> None:
    leadership.follower_fetched(FollowerFetch(broker_id, 1, 100, start), 100, 1)


def test_the_low_watermark_is_the_lowest_start_of_the_living(view: ClusterView) -> None:
    leadership = lead(view, 1, 2, 3)
    begins(leadership, 2, 5)
    begins(leadership, 3, 7)
    assert leadership.low_watermark(9) == 5
    view.cluster = cluster(broker(1), broker(2, fenced=True), broker(3))
    leadership.update(registration(1, 3, epoch=1))
    assert leadership.low_watermark(9) == 7


def test_a_replica_that_is_away_and_may_lead_counts(view: ClusterView) -> None:
    """It would bring back what it did not see deleted."""
    leadership = lead(view, 1, 2)
    begins(leadership, 2, 5)
    view.cluster = cluster(broker(1), broker(2, fenced=True))
    assert leadership.low_watermark(9) == 5, "in the ISR"
    leadership.update(registration(1, epoch=1, elr=(2,)))
    assert leadership.low_watermark(9) == 5, "an eligible leader replica"
    leadership.update(registration(1, epoch=2))
    assert leadership.low_watermark(9) == 9


def test_who_was_away_during_a_deletion_joins_once_it_begins_there(view: ClusterView) -> None:
    leadership = lead(view, 1)
    begins(leadership, 2, 5)
    view.cluster = cluster(broker(1), broker(2, fenced=True))
    assert leadership.low_watermark(9) == 9
    view.cluster = cluster(broker(1), broker(2))
    begins(leadership, 2, 5)
    assert leadership.expand(2, 100) is None
    begins(leadership, 2, 9)
    assert leadership.expand(2, 100) is not None


def test_a_new_leader_keeps_what_the_one_before_confirmed(view: ClusterView) -> None:
    leadership = Leadership(view, 9)
    leadership.update(registration(1))
    leadership.begin_epoch(0, 100, 0, is_new_leader=True)
    begins(leadership, 2, 8)
    assert leadership.expand(2, 100) is None
    begins(leadership, 2, 9)
    assert leadership.expand(2, 100) is not None
