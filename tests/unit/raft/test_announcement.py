"""BeginQuorumEpoch and EndQuorumEpoch."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import begin_quorum_epoch as begin
from ottla.protocol.messages import end_quorum_epoch as end
from ottla.raft.errors import RaftInvariantError
from ottla.raft.event import ResignRequested
from ottla.raft.identity import METADATA_TOPIC, LeaderAndEpoch
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import Replica, begin_request, directory, end_request, fetch_request, key


def begin_partition(replica: Replica, request: begin.BeginQuorumEpochRequest) -> begin.ResponsePartitionData:
    response = replica.ask(request)
    assert isinstance(response, begin.BeginQuorumEpochResponse)
    return response.topics[0].partitions[0]


def begin_response(epoch: int, leader_id: int) -> begin.BeginQuorumEpochResponse:
    partition = begin.ResponsePartitionData(partition_index=0, leader_id=leader_id, leader_epoch=epoch)
    return begin.BeginQuorumEpochResponse(
        topics=[begin.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])]
    )


def end_response(epoch: int, leader_id: int) -> end.EndQuorumEpochResponse:
    partition = end.ResponsePartitionData(partition_index=0, leader_id=leader_id, leader_epoch=epoch)
    return end.EndQuorumEpochResponse(topics=[end.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


class TestBegin:
    def test_a_new_leader_tells_all_other_voters(self) -> None:
        leader = Replica().start().become_leader()
        announced = leader.take_sent(begin.BeginQuorumEpochRequest)
        assert {request.voter_id for _, request in announced} == {2, 3}
        assert [endpoint.host for endpoint in announced[0][1].leader_endpoints] == ["c1"]

    def test_it_is_repeated_to_voters_that_do_not_fetch(self) -> None:
        leader = Replica().start().become_leader()
        for sent, _ in leader.take_sent(begin.BeginQuorumEpochRequest):
            leader.respond(sent, begin_response(leader.epoch, 1))
        leader.pass_time(500)
        leader.ask(fetch_request(2, leader.epoch, 0, 0))
        leader.pass_time(500)
        [(_, request)] = leader.take_sent(begin.BeginQuorumEpochRequest)
        assert request.voter_id == 3

    def test_a_voter_follows_whoever_says_so(self) -> None:
        replica = Replica().start()
        partition = begin_partition(replica, begin_request(2, 5))
        assert (partition.error_code, partition.leader_id) == (ErrorCode.NONE, 2)
        assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(2, 5))

    def test_an_old_leader_is_fenced(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        partition = begin_partition(replica, begin_request(3, 4))
        assert (partition.error_code, partition.leader_id) == (ErrorCode.FENCED_LEADER_EPOCH, 2)

    def test_two_leaders_in_an_epoch_stop_the_process(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        with pytest.raises(RaftInvariantError):
            replica.ask(begin_request(3, 5))

    def test_another_directory_learns_the_leader_but_says_that_it_is_another(self) -> None:
        replica = Replica().start()
        request = begin_request(2, 5)
        request.topics[0].partitions[0].voter_directory_id = directory(55)
        assert begin_partition(replica, request).error_code == ErrorCode.INVALID_VOTER_KEY
        assert replica.core.leader == LeaderAndEpoch(2, 5)

    def test_another_cluster_is_refused(self) -> None:
        request = begin_request(2, 5)
        request.cluster_id = "another"
        response = Replica().start().ask(request)
        assert isinstance(response, begin.BeginQuorumEpochResponse)
        assert response.error_code == ErrorCode.INCONSISTENT_CLUSTER_ID

    def test_endpoints_that_a_request_lacks_come_from_the_voters(self) -> None:
        replica, request = Replica().start(), begin_request(2, 5)
        request.leader_endpoints = []
        replica.ask(request)
        assert replica.kind is RoleKind.FOLLOWER

    def test_a_leader_that_nobody_has_an_address_of_is_not_followed(self) -> None:
        replica, request = Replica().start(), begin_request(9, 5)
        request.leader_endpoints = []
        replica.ask(request)
        assert (replica.kind, replica.epoch) == (RoleKind.UNATTACHED, 5)


class TestEnd:
    def test_a_leader_that_resigns_names_the_best_first_and_asks_until_told(self) -> None:
        leader = Replica().start().become_leader()
        leader.ask(fetch_request(3, leader.epoch, 3, leader.epoch))
        leader.ask(fetch_request(2, leader.epoch, 0, 0))
        leader.handle(ResignRequested(leader.epoch))
        assert leader.kind is RoleKind.RESIGNED
        told = leader.take_sent(end.EndQuorumEpochRequest)
        candidates = told[0][1].topics[0].partitions[0].preferred_candidates
        assert [candidate.candidate_id for candidate in candidates] == [3, 2]
        assert candidates[0].candidate_directory_id == key(3).directory_id
        leader.respond(told[0][0], end_response(leader.epoch, 1))
        leader.fail(told[1][0])
        leader.pass_time(50)
        [(again, _)] = leader.take_sent(end.EndQuorumEpochRequest)
        assert again.destination.id == told[1][0].destination.id

    def test_resigning_from_another_epoch_is_ignored(self) -> None:
        leader = Replica().start().become_leader()
        leader.handle(ResignRequested(leader.epoch - 1))
        assert leader.kind is RoleKind.LEADER

    @pytest.mark.parametrize(("candidates", "wait_ms"), [((1, 3), 0), ((3, 1), 500), ((3, 4), 1000)])
    def test_successors_wait_for_their_turn(self, candidates: tuple[int, ...], wait_ms: int) -> None:
        replica = Replica().start().become_follower(2, 5)
        replica.ask(end_request(2, 5, *candidates))
        if wait_ms:
            replica.pass_time(wait_ms - 1)
            assert replica.kind is RoleKind.FOLLOWER
            replica.pass_time(1)
        assert replica.kind is RoleKind.PROSPECTIVE

    def test_the_end_of_an_old_epoch_is_fenced(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        response = replica.ask(end_request(3, 4, 1))
        assert isinstance(response, end.EndQuorumEpochResponse)
        assert response.topics[0].partitions[0].error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert replica.kind is RoleKind.FOLLOWER

    def test_a_resigned_leader_starts_a_new_epoch_when_nobody_else_does(self) -> None:
        leader = Replica().start().become_leader()
        epoch = leader.epoch
        leader.handle(ResignRequested(epoch))
        leader.pass_time(1000)
        assert leader.epoch == epoch + 1
