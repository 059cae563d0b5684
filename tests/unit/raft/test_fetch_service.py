"""Fetch at the leader: what followers get, what it proves, and how long they wait."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import Replica, batch, directory, fetch_request, fetched, vote_request


@pytest.fixture
def leader() -> Replica:
    """Epochs 1 from 0 and 3 from 2; it leads the next one."""
    replica = Replica()
    replica.log.append(batch(0, 1, b"a", b"b"))
    replica.log.append(batch(2, 3, b"c", b"d"))
    replica.log.flush()
    return replica.start().become_leader()


def test_records_are_served_from_the_fetch_offset(leader: Replica) -> None:
    data = fetched(leader.ask(fetch_request(2, leader.epoch, 2, 1)))
    assert data.records == leader.log.read(2, 1 << 20)
    assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (1, leader.epoch)


def test_an_unknown_epoch_diverges_where_the_one_before_it_ends(leader: Replica) -> None:
    data = fetched(leader.ask(fetch_request(2, leader.epoch, 3, 2)))
    assert data.diverging_epoch == fetch.EpochEndOffset(epoch=1, end_offset=2)
    assert not data.records


def test_a_log_that_is_too_long_in_its_epoch_diverges_at_its_end(leader: Replica) -> None:
    data = fetched(leader.ask(fetch_request(2, leader.epoch, 9, 3)))
    assert data.diverging_epoch == fetch.EpochEndOffset(epoch=3, end_offset=4)


def test_a_diverging_fetch_proves_nothing(leader: Replica) -> None:
    leader.ask(fetch_request(2, leader.epoch, 99, 3))
    assert leader.core.high_watermark is None


@pytest.mark.parametrize(
    ("epoch_step", "error"), [(-1, ErrorCode.FENCED_LEADER_EPOCH), (1, ErrorCode.UNKNOWN_LEADER_EPOCH)]
)
def test_other_epochs_are_refused(leader: Replica, epoch_step: int, error: ErrorCode) -> None:
    data = fetched(leader.ask(fetch_request(2, leader.epoch + epoch_step, 0, 0)))
    assert (data.error_code, data.high_watermark) == (error, -1)


def test_a_follower_names_the_leader_instead() -> None:
    replica = Replica().start().become_follower(2, 5)
    response = replica.ask(fetch_request(3, 5, 0, 0))
    data = fetched(response)
    assert (data.error_code, data.current_leader.leader_id) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 2)
    assert isinstance(response, fetch.FetchResponse)
    assert response.node_endpoints == [fetch.NodeEndpoint(node_id=2, host="c2", port=9093)]


@pytest.mark.parametrize(("offset", "last_epoch", "max_wait_ms"), [(-1, 0, 0), (0, -1, 0), (0, 99, 0), (0, 0, -1)])
def test_impossible_fetches_are_invalid(leader: Replica, offset: int, last_epoch: int, max_wait_ms: int) -> None:
    request = fetch_request(2, leader.epoch, offset, last_epoch, max_wait_ms=max_wait_ms)
    assert fetched(leader.ask(request)).error_code == ErrorCode.INVALID_REQUEST


def test_another_cluster_and_another_topic_are_refused(leader: Replica) -> None:
    request = fetch_request(2, leader.epoch, 0, 0)
    request.cluster_id = "another"
    assert leader.ask(request).error_code == ErrorCode.INCONSISTENT_CLUSTER_ID  # type: ignore[attr-defined]
    request = fetch_request(2, leader.epoch, 0, 0)
    request.topics[0].topic_id = directory(9)
    assert leader.ask(request).error_code == ErrorCode.INVALID_REQUEST  # type: ignore[attr-defined]


class TestHighWatermark:
    def test_a_majority_commits_but_only_from_this_epoch_on(self, leader: Replica) -> None:
        leader.ask(fetch_request(2, leader.epoch, 4, 3))
        assert leader.core.high_watermark is None, "records of earlier epochs alone are not committed"
        leader.ask(fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch))
        assert leader.core.high_watermark == leader.log.end_offset

    def test_the_leader_counts_only_what_it_flushed(self, leader: Replica) -> None:
        end = leader.log.end_offset
        leader.ask(fetch_request(2, leader.epoch, end, leader.epoch))
        leader.flushes = False
        leader.append(b"x")
        leader.ask(fetch_request(2, leader.epoch, end + 1, leader.epoch))
        assert leader.core.high_watermark == end
        leader.flush()
        assert leader.core.high_watermark == end + 1

    def test_two_followers_commit_what_the_leader_has_not_flushed(self, leader: Replica) -> None:
        leader.flushes = False
        leader.append(b"x")
        for follower in (2, 3):
            leader.ask(fetch_request(follower, leader.epoch, leader.log.end_offset, leader.epoch))
        assert leader.core.high_watermark == leader.log.end_offset

    def test_observers_commit_nothing(self, leader: Replica) -> None:
        for observer in (7, 8):
            leader.ask(fetch_request(observer, leader.epoch, leader.log.end_offset, leader.epoch))
        assert leader.core.high_watermark is None

    def test_a_voters_id_from_another_directory_commits_nothing(self, leader: Replica) -> None:
        request = fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch)
        request.topics[0].partitions[0].replica_directory_id = directory(99)
        leader.ask(request)
        assert leader.core.high_watermark is None

    def test_it_does_not_fall_when_a_follower_comes_back_with_less(self, leader: Replica) -> None:
        end = leader.log.end_offset
        leader.ask(fetch_request(2, leader.epoch, end, leader.epoch))
        leader.ask(fetch_request(2, leader.epoch, 2, 1))
        assert leader.core.high_watermark == end


class TestParking:
    def park(self, leader: Replica, high_watermark: int = 2**62) -> int:
        end = leader.log.end_offset
        return leader.receive(
            fetch_request(2, leader.epoch, end, leader.epoch, max_wait_ms=500, high_watermark=high_watermark)
        )

    def test_nothing_new_waits_until_its_time_is_up(self, leader: Replica) -> None:
        self.park(leader)
        parked = self.park(leader)
        assert parked not in leader.answers
        leader.pass_time(499)
        assert parked not in leader.answers
        leader.pass_time(1)
        assert not fetched(leader.answers[parked]).records

    def test_records_release_it(self, leader: Replica) -> None:
        self.park(leader)
        parked = self.park(leader)
        leader.append(b"new")
        assert b"new" in bytes(fetched(leader.answers[parked]).records or b"")  # type: ignore[arg-type]

    def test_a_high_watermark_that_moves_releases_it(self, leader: Replica) -> None:
        for follower in (2, 3):
            leader.ask(fetch_request(follower, leader.epoch, 0, 0))
        parked = leader.receive(
            fetch_request(7, leader.epoch, leader.log.end_offset, leader.epoch, max_wait_ms=500, high_watermark=-1)
        )
        assert parked not in leader.answers
        leader.ask(fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch))
        assert fetched(leader.answers[parked]).high_watermark == leader.log.end_offset

    def test_a_high_watermark_that_the_follower_does_not_know_answers_at_once(self, leader: Replica) -> None:
        end = leader.log.end_offset
        leader.ask(fetch_request(2, leader.epoch, end, leader.epoch))
        parked = self.park(leader, high_watermark=end - 1)
        assert fetched(leader.answers[parked]).high_watermark == end

    def test_the_end_of_the_leadership_releases_it(self, leader: Replica) -> None:
        self.park(leader)
        parked = self.park(leader)
        leader.ask(vote_request(3, leader.epoch + 1))
        assert leader.kind is RoleKind.UNATTACHED
        assert fetched(leader.answers[parked]).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
