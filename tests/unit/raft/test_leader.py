"""What a leader keeps track of, apart from the log."""

import pytest

from ottla.protocol.errors import ErrorCode, NotLeaderOrFollowerError
from ottla.protocol.messages import describe_quorum
from ottla.raft.config import QuorumConfig
from ottla.raft.effect import LeaderChanged, ShutdownCompleted
from ottla.raft.event import ShutdownRequested
from ottla.raft.identity import METADATA_TOPIC, LeaderAndEpoch, LocalReplica, OffsetAndEpoch
from ottla.raft.log.accumulator import BatchAccumulator
from ottla.raft.quorum_state import ElectionState
from ottla.raft.roles.leader import Leader
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import (
    START_MS,
    Replica,
    begin_request,
    endpoints,
    fetch_request,
    key,
    snapshot_request,
    voter_set,
)


def new_leader(*voters: int) -> Leader:
    election = ElectionState(epoch=3, leader_id=1)
    accumulator = BatchAccumulator(3, 10, QuorumConfig())
    leader = Leader(election, LocalReplica(key(1), endpoints(1)), voter_set(*voters), accumulator)
    leader.start(START_MS, fetch_timeout_ms=2000)
    return leader


@pytest.mark.parametrize(
    ("ends", "committed"),
    [
        ({1: 15}, 15),
        ({1: 15, 2: 12}, 12),
        ({1: 15, 2: 13, 3: 11}, 13),
        ({1: 15, 2: 14, 3: 13, 4: 12}, 13),
        ({1: 15, 2: 14, 3: 12, 4: 11, 5: 11}, 12),
        ({1: 15, 2: 10, 3: 9}, None),
    ],
)
def test_the_high_watermark_is_what_a_majority_holds(ends: dict[int, int], committed: int | None) -> None:
    leader = new_leader(*ends)
    leader.flushed(ends[1], voter_set(*ends))
    for replica, end in ends.items():
        if replica != 1:
            leader.replica_fetched(key(replica), end, START_MS)
    assert leader.high_watermark == committed


def test_a_leader_that_is_no_voter_does_not_count_itself() -> None:
    leader = new_leader(1, 2, 3)
    leader.flushed(15, voter_set(2, 3))
    leader.replica_fetched(key(2), 15, START_MS)
    assert leader.high_watermark is None
    leader.replica_fetched(key(3), 14, START_MS)
    assert leader.high_watermark == 14


def test_what_an_observer_holds_counts_once_it_votes() -> None:
    leader = new_leader(1, 2)
    leader.flushed(15, voter_set(1, 2))
    leader.replica_fetched(key(3), 15, START_MS)
    assert leader.high_watermark is None
    assert leader.flushed(15, voter_set(1, 2, 3))
    assert leader.high_watermark == 15


class TestCheckQuorum:
    def test_a_leader_without_a_majority_resigns_after_one_and_a_half_fetch_timeouts(self) -> None:
        leader = Replica().start().become_leader()
        leader.pass_time(2999)
        assert leader.kind is RoleKind.LEADER
        leader.pass_time(1)
        assert leader.kind is RoleKind.RESIGNED

    def test_a_fetch_of_a_majority_keeps_it(self) -> None:
        leader = Replica().start().become_leader()
        for _ in range(4):
            leader.pass_time(2000)
            leader.ask(fetch_request(2, leader.epoch, 0, 0))
        assert leader.kind is RoleKind.LEADER

    def test_of_five_voters_two_must_fetch(self) -> None:
        leader = Replica(voters=(1, 2, 3, 4, 5)).start().become_leader()
        leader.pass_time(2000)
        leader.ask(fetch_request(2, leader.epoch, 0, 0))
        leader.ask(fetch_request(2, leader.epoch, 0, 0))
        leader.pass_time(1000)
        assert leader.kind is RoleKind.RESIGNED

    def test_fetching_a_snapshot_counts_as_well(self) -> None:
        leader = Replica().start().become_leader()
        leader.ask(fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch))
        snapshot_id = leader.core.role.high_watermark, leader.epoch
        assert snapshot_id[0] is not None
        writer = leader.core.begin_snapshot(
            OffsetAndEpoch(offset=snapshot_id[0], epoch=snapshot_id[1]), 0, leader.now_ms
        )
        assert writer is not None
        leader.core.store_snapshot(writer)
        for _ in range(3):
            leader.pass_time(2000)
            leader.ask(snapshot_request(3, leader.epoch, (snapshot_id[0], snapshot_id[1])))
        assert leader.kind is RoleKind.LEADER

    def test_observers_do_not_keep_it(self) -> None:
        leader = Replica().start().become_leader()
        leader.pass_time(2000)
        leader.ask(fetch_request(9, leader.epoch, 0, 0))
        leader.pass_time(1000)
        assert leader.kind is RoleKind.RESIGNED

    def test_a_sole_voter_needs_nobody(self) -> None:
        leader = Replica(voters=(1,)).start()
        leader.pass_time(60_000)
        assert leader.kind is RoleKind.LEADER


class TestTellingTheListener:
    def test_leadership_is_told_once_everything_before_it_is_applied(self) -> None:
        leader = Replica().start().become_leader()
        news = LeaderChanged(LeaderAndEpoch(1, leader.epoch))
        assert news not in leader.told
        leader.ask(fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch))
        assert leader.told.count(news) == 1

    def test_other_leaders_are_told_at_once(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        assert replica.told[-1] == LeaderChanged(LeaderAndEpoch(2, 5))

    def test_an_epoch_without_a_leader_is_told_too(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        replica.pass_time(2000)
        assert replica.kind is RoleKind.PROSPECTIVE
        assert replica.told[-1] == LeaderChanged(LeaderAndEpoch(2, 5)), "pre-votes disturb nobody"


class TestAppend:
    def test_only_the_leader_of_the_epoch_appends(self) -> None:
        follower = Replica().start().become_follower(2, 5)
        with pytest.raises(NotLeaderOrFollowerError):
            follower.core.append(5, [b"x"], follower.now_ms)
        leader = Replica().start().become_leader()
        with pytest.raises(NotLeaderOrFollowerError):
            leader.core.append(leader.epoch - 1, [b"x"], leader.now_ms)

    def test_records_wait_for_the_linger_time(self) -> None:
        leader = Replica(voters=(1,), config=QuorumConfig(append_linger_ms=25)).start()
        end = leader.log.end_offset
        offset = leader.core.append(leader.epoch, [b"x"], leader.now_ms)
        assert (offset, leader.core.next_offset) == (end, end + 1)
        leader.pass_time(24)
        assert leader.log.end_offset == end
        leader.pass_time(1)
        assert leader.log.end_offset == end + 1


class TestShutdown:
    def test_a_leader_hands_over_first(self) -> None:
        leader = Replica().start().become_leader()
        leader.handle(ShutdownRequested(timeout_ms=5000))
        assert leader.kind is RoleKind.RESIGNED
        assert ShutdownCompleted(graceful=True) not in leader.told
        leader.ask(begin_request(2, leader.epoch + 1))
        assert leader.told[-1] == ShutdownCompleted(graceful=True)

    def test_it_does_not_wait_for_ever(self) -> None:
        leader = Replica().start().become_leader()
        leader.handle(ShutdownRequested(timeout_ms=5000))
        leader.pass_time(5000)
        assert leader.told[-1] == ShutdownCompleted(graceful=False)

    def test_followers_and_sole_voters_just_go(self) -> None:
        for replica in (Replica().start().become_follower(2, 5), Replica(voters=(1,)).start()):
            replica.handle(ShutdownRequested(timeout_ms=5000))
            assert ShutdownCompleted(graceful=True) in replica.told


class TestDescribeQuorum:
    def ask(self, replica: Replica, api_version: int = 2) -> describe_quorum.DescribeQuorumResponse:
        partition = describe_quorum.RequestPartitionData(partition_index=0)
        topic = describe_quorum.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        request = describe_quorum.DescribeQuorumRequest(topics=[topic])
        response = replica.ask(request, api_version=api_version)
        assert isinstance(response, describe_quorum.DescribeQuorumResponse)
        return response

    def test_the_leader_tells_how_far_everybody_is(self) -> None:
        leader = Replica().start().become_leader()
        end = leader.log.end_offset
        leader.ask(fetch_request(2, leader.epoch, end, leader.epoch))
        leader.ask(fetch_request(9, leader.epoch, 0, 0))
        response = self.ask(leader)
        partition = response.topics[0].partitions[0]
        assert (partition.leader_id, partition.leader_epoch, partition.high_watermark) == (1, leader.epoch, end)
        ends = {state.replica_id: state.log_end_offset for state in partition.current_voters}
        assert ends == {1: end, 2: end, 3: -1}
        assert [state.replica_id for state in partition.observers] == [9]
        assert {node.node_id: node.listeners[0].host for node in response.nodes} == {1: "c1", 2: "c2", 3: "c3"}
        assert partition.current_voters[1].last_caught_up_timestamp == leader.now_ms

    def test_version_1_has_neither_nodes_nor_directories(self) -> None:
        response = self.ask(Replica().start().become_leader(), api_version=1)
        assert response.nodes == []
        assert response.encode(1)

    def test_observers_that_stopped_fetching_are_forgotten(self) -> None:
        leader = Replica(voters=(1,)).start()
        leader.ask(fetch_request(9, leader.epoch, 0, 0))
        leader.pass_time(300_000)
        assert self.ask(leader).topics[0].partitions[0].observers == []

    def test_anybody_else_says_that_it_does_not_lead(self) -> None:
        partition = self.ask(Replica().start().become_follower(2, 5)).topics[0].partitions[0]
        assert partition.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER

    def test_other_partitions_are_unknown(self) -> None:
        partition = describe_quorum.RequestPartitionData(partition_index=4)
        topic = describe_quorum.RequestTopicData(topic_name="orders", partitions=[partition])
        response = Replica().start().ask(describe_quorum.DescribeQuorumRequest(topics=[topic]))
        assert isinstance(response, describe_quorum.DescribeQuorumResponse)
        assert response.topics[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
