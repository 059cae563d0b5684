"""UpdateRaftVoter, automatic joining, and the upgrade of kraft.version."""

from dataclasses import replace

import pytest

from ottla.protocol.errors import ErrorCode, InvalidUpdateVersionError
from ottla.protocol.messages import add_raft_voter, fetch, remove_raft_voter
from ottla.protocol.messages import update_raft_voter as update
from ottla.raft.config import QuorumConfig
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.identity import KRaftVersionRange, ReplicaKey
from ottla.raft.voters.voter_set import VoterNode
from tests.unit.raft.replica import (
    CLUSTER_ID,
    LISTENER,
    Replica,
    directory,
    fetch_request,
    fetch_response,
    key,
    voter_set,
)

MOVED = Endpoints({LISTENER: Address("moved", 9093)})


def request(leader: Replica, voter: int, **changes: object) -> update.UpdateRaftVoterRequest:
    made = update.UpdateRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        current_leader_epoch=leader.epoch,
        voter_id=voter,
        voter_directory_id=directory(voter),
        listeners=MOVED.listeners(update.Listener),
        kraft_version_feature=update.KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def error(response: object) -> ErrorCode:
    assert isinstance(response, update.UpdateRaftVoterResponse)
    return ErrorCode(response.error_code)


def leading(*, static: bool = False) -> Replica:
    leader = Replica(static=static).start().become_leader()
    leader.ask(fetch_request(2, leader.epoch, leader.log.end_offset, leader.epoch))
    return leader


def test_new_endpoints_go_into_the_log() -> None:
    leader = leading()
    response = leader.ask(request(leader, 2))
    assert error(response) == ErrorCode.NONE
    assert leader.core.voters.endpoints(2) == MOVED
    assert isinstance(response, update.UpdateRaftVoterResponse)
    assert (response.current_leader.leader_id, response.current_leader.host) == (1, "c1")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"current_leader_epoch": 0}, ErrorCode.FENCED_LEADER_EPOCH),
        ({"current_leader_epoch": 99}, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ({"voter_directory_id": directory(0)}, ErrorCode.INVALID_REQUEST),
        ({"listeners": []}, ErrorCode.INVALID_REQUEST),
        ({"kraft_version_feature": update.KRaftVersionFeature()}, ErrorCode.INVALID_REQUEST),
        ({"voter_id": 7}, ErrorCode.VOTER_NOT_FOUND),
        ({"voter_directory_id": directory(7)}, ErrorCode.VOTER_NOT_FOUND),
    ],
)
def test_bad_requests(changes: dict[str, object], expected: ErrorCode) -> None:
    leader = leading()
    assert error(leader.ask(request(leader, 2, **changes))) == expected


def test_an_uncommitted_change_comes_first() -> None:
    leader = leading()
    leader.ask(request(leader, 2))
    assert error(leader.ask(request(leader, 3))) == ErrorCode.REQUEST_TIMED_OUT


class TestUpgrade:
    def test_needs_the_directories_of_all_voters(self) -> None:
        leader = leading(static=True)
        assert leader.core.kraft_version == 0
        with pytest.raises(InvalidUpdateVersionError):
            leader.core.upgrade_kraft_version(leader.epoch, 1, leader.now_ms)
        for voter in (2, 3):
            assert error(leader.ask(request(leader, voter))) == ErrorCode.NONE
        leader.core.upgrade_kraft_version(leader.epoch, 1, leader.now_ms, validate_only=True)
        assert leader.core.kraft_version == 0
        leader.core.upgrade_kraft_version(leader.epoch, 1, leader.now_ms)
        leader.pass_time(1)
        assert leader.core.kraft_version == 1
        assert leader.core.voters.keys == [key(1), key(2), key(3)]
        assert leader.core.voters.endpoints(3) == MOVED

    def test_there_is_no_way_back(self) -> None:
        leader = leading()
        leader.core.upgrade_kraft_version(leader.epoch, 1, leader.now_ms)
        with pytest.raises(InvalidUpdateVersionError):
            leader.core.upgrade_kraft_version(leader.epoch, 0, leader.now_ms)

    def test_a_voter_that_cannot_follow_prevents_it(self) -> None:
        leader = leading(static=True)
        old = update.KRaftVersionFeature(min_supported_version=0, max_supported_version=0)
        leader.ask(request(leader, 2))
        leader.ask(request(leader, 3, kraft_version_feature=old))
        with pytest.raises(InvalidUpdateVersionError):
            leader.core.upgrade_kraft_version(leader.epoch, 1, leader.now_ms)


def keep_fetching(replica: Replica, until_ms: int) -> None:
    """Answers every fetch for a while."""
    for _ in range(until_ms // 500):
        for sent, _ in replica.take_sent(fetch.FetchRequest):
            replica.respond(sent, fetch_response(2, 5))
        replica.pass_time(500)


class TestMembership:
    def test_a_voter_whose_endpoints_changed_tells_the_leader(self) -> None:
        replica = Replica()
        replica.setup = replace(replica.setup, local=replace(replica.setup.local, endpoints=MOVED))
        replica.restart().become_follower(2, 5)
        keep_fetching(replica, 2500)
        _, sent = replica.take_sent(update.UpdateRaftVoterRequest)[0]
        assert (sent.voter_id, sent.listeners[0].host) == (1, "moved")

    def test_a_voter_whose_entry_is_right_does_not(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        keep_fetching(replica, 5000)
        assert replica.take_sent(update.UpdateRaftVoterRequest) == []

    def test_a_static_voter_tells_each_leader_once(self) -> None:
        replica = Replica(static=True).start().become_follower(2, 5)
        keep_fetching(replica, 2500)
        sent, _ = replica.take_one(update.UpdateRaftVoterRequest)
        leader = update.CurrentLeader(leader_id=2, leader_epoch=5)
        replica.respond(sent, update.UpdateRaftVoterResponse(current_leader=leader))
        keep_fetching(replica, 5000)
        assert replica.take_sent(update.UpdateRaftVoterRequest) == []

    def observer(self, *, auto_join: bool, directory_of: int = 4) -> Replica:
        config = QuorumConfig(auto_join_enable=auto_join)
        observer = Replica(node_id=4, voters=(1, 2, 3), config=config)
        local = replace(observer.setup.local, key=ReplicaKey(directory_of, directory(99)))
        observer.setup = replace(observer.setup, local=local)
        return observer.restart().become_follower(2, 5)

    def test_a_controller_joins_by_itself_if_told_to(self) -> None:
        observer = self.observer(auto_join=True)
        keep_fetching(observer, 2500)
        _, sent = observer.take_sent(add_raft_voter.AddRaftVoterRequest)[0]
        assert (sent.voter_id, sent.voter_directory_id, sent.ack_when_committed) == (4, directory(99), False)

    def test_it_does_not_if_not(self) -> None:
        observer = self.observer(auto_join=False)
        keep_fetching(observer, 5000)
        assert observer.take_sent(add_raft_voter.AddRaftVoterRequest) == []

    def test_a_replaced_disk_has_the_former_voter_removed_first(self) -> None:
        observer = self.observer(auto_join=True, directory_of=3)
        keep_fetching(observer, 2500)
        assert observer.take_sent(add_raft_voter.AddRaftVoterRequest) == []
        _, sent = observer.take_sent(remove_raft_voter.RemoveRaftVoterRequest)[0]
        assert (sent.voter_id, sent.voter_directory_id) == (3, directory(3))


class TestVoterSet:
    def test_changes_apply_or_do_not(self) -> None:
        voters = voter_set(1, 2)
        newcomer = VoterNode(key(3), MOVED)
        assert voters.with_voter(newcomer) is not None
        assert voters.with_voter(VoterNode(ReplicaKey(2, directory(9)), MOVED)) is None, "the id is taken"
        assert voters.without_voter(key(2)) == voter_set(1)
        assert voters.without_voter(ReplicaKey(2, directory(9))) is None
        assert voter_set(1).without_voter(key(1)) is None
        assert voters.with_update(VoterNode(ReplicaKey(2, directory(9)), MOVED)) is None
        assert voters.with_update_of_id(VoterNode(ReplicaKey(2, directory(9)), MOVED)) is not None

    def test_majorities_overlap_if_one_voter_changes(self) -> None:
        assert voter_set(1, 2, 3).has_overlapping_majority(voter_set(1, 2))
        assert voter_set(1, 2, 3).has_overlapping_majority(voter_set(1, 2, 4))
        assert not voter_set(1, 2, 3).has_overlapping_majority(voter_set(1))

    def test_the_record_says_it_all(self) -> None:
        voters = voter_set(1, 2)
        assert type(voters).of_record(voters.record()) == voters

    def test_versions(self) -> None:
        old = VoterNode(key(3), MOVED, KRaftVersionRange(0, 0))
        voters = voter_set(1, 2).with_voter(old)
        assert voters is not None
        assert (voters.supports(0), voters.supports(1)) == (True, False)
