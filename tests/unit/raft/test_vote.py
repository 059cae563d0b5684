"""Who gets a vote."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import vote
from ottla.raft.quorum_state import decode
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import Replica, batch, directory, fetch_response, key, vote_request


def answer(replica: Replica, request: vote.VoteRequest) -> vote.ResponsePartitionData:
    response = replica.ask(request)
    assert isinstance(response, vote.VoteResponse)
    assert response.error_code == ErrorCode.NONE
    return response.topics[0].partitions[0]


def test_an_unattached_voter_grants_and_writes_it_down_first() -> None:
    replica = Replica().start()
    assert answer(replica, vote_request(2, 5)).vote_granted
    assert replica.state.text is not None
    assert decode(replica.state.text).voted_key == key(2)
    assert (replica.kind, replica.epoch) == (RoleKind.UNATTACHED, 5)


def test_the_same_candidate_is_granted_again() -> None:
    replica = Replica().start()
    assert answer(replica, vote_request(2, 5)).vote_granted
    assert answer(replica, vote_request(2, 5)).vote_granted


def test_another_candidate_of_the_same_epoch_is_refused_even_after_a_restart() -> None:
    replica = Replica().start()
    assert answer(replica, vote_request(2, 5)).vote_granted
    assert not answer(replica, vote_request(3, 5)).vote_granted
    replica.restart()
    assert not answer(replica, vote_request(3, 5)).vote_granted


def test_the_same_id_with_another_directory_is_another_candidate() -> None:
    replica = Replica().start()
    assert answer(replica, vote_request(2, 5)).vote_granted
    request = vote_request(2, 5)
    request.topics[0].partitions[0].replica_directory_id = directory(99)
    assert not answer(replica, request).vote_granted


@pytest.mark.parametrize(("end", "granted"), [((3, 1), True), ((9, 1), True), ((1, 2), True), ((2, 1), False)])
def test_the_candidates_log_must_have_what_ours_has(end: tuple[int, int], granted: bool) -> None:
    replica = Replica()
    replica.log.append(batch(0, 1, b"a", b"b", b"c"))
    replica.log.flush()
    replica.start()
    assert answer(replica, vote_request(2, 5, end=end)).vote_granted is granted
    assert replica.epoch == 5


def test_an_earlier_epoch_is_fenced() -> None:
    replica = Replica().start()
    replica.ask(vote_request(2, 5))
    partition = answer(replica, vote_request(3, 4))
    assert (partition.error_code, partition.leader_epoch) == (ErrorCode.FENCED_LEADER_EPOCH, 5)


def test_a_voter_that_follows_a_leader_grants_nobody_in_its_epoch() -> None:
    replica = Replica().start().become_follower(2, 5)
    partition = answer(replica, vote_request(3, 5))
    assert not partition.vote_granted
    assert partition.leader_id == 2


def test_a_refusal_names_the_leader_and_its_address() -> None:
    replica = Replica().start().become_follower(2, 5)
    response = replica.ask(vote_request(3, 5))
    assert isinstance(response, vote.VoteResponse)
    assert response.node_endpoints == [vote.NodeEndpoint(node_id=2, host="c2", port=9093)]
    assert replica.ask(vote_request(3, 5), api_version=0).node_endpoints == []  # type: ignore[attr-defined]


def test_a_candidate_and_a_leader_grant_nobody() -> None:
    leader = Replica().start().become_leader()
    assert not answer(leader, vote_request(2, leader.epoch, end=(100, leader.epoch - 1))).vote_granted
    assert leader.kind is RoleKind.LEADER


def test_a_leader_steps_down_for_a_later_epoch() -> None:
    leader = Replica().start().become_leader()
    epoch = leader.epoch + 1
    assert not answer(leader, vote_request(2, epoch)).vote_granted, "its log is shorter"
    assert (leader.kind, leader.epoch) == (RoleKind.UNATTACHED, epoch)


def test_an_observer_votes_too_since_its_voter_set_may_be_old() -> None:
    observer = Replica(node_id=4, voters=(1, 2, 3)).start()
    assert answer(observer, vote_request(2, 5, voter=4)).vote_granted


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"topics": []}, ErrorCode.INVALID_REQUEST),
    ],
)
def test_requests_for_something_else_are_refused(change: dict[str, object], error: ErrorCode) -> None:
    replica, request = Replica().start(), vote_request(2, 5)
    for name, value in change.items():
        setattr(request, name, value)
    response = replica.ask(request)
    assert isinstance(response, vote.VoteResponse)
    assert (response.error_code, replica.epoch) == (error, 0)


@pytest.mark.parametrize("end", [(-1, 0), (0, -1), (3, 5), (3, 6)])
def test_a_log_cannot_end_in_the_epoch_it_stands_for(end: tuple[int, int]) -> None:
    assert answer(Replica().start(), vote_request(2, 5, end=end)).error_code == ErrorCode.INVALID_REQUEST


def test_a_vote_meant_for_another_directory_is_refused() -> None:
    replica = Replica().start()
    request = vote_request(2, 5)
    request.topics[0].partitions[0].voter_directory_id = directory(77)
    partition = answer(replica, request)
    assert (partition.error_code, partition.vote_granted) == (ErrorCode.INVALID_VOTER_KEY, False)
    assert replica.epoch == 5, "the epoch is news all the same"


def test_no_cluster_id_and_no_voter_are_good_enough() -> None:
    request = vote_request(2, 5)
    request.cluster_id, request.voter_id = None, -1
    assert answer(Replica().start(), request).vote_granted


class TestPreVote:
    """What would be voted, without a new epoch (KIP-996)."""

    def test_it_changes_nothing(self) -> None:
        replica = Replica().start()
        replica.ask(vote_request(3, 5))
        before = replica.state.text
        assert answer(replica, vote_request(2, 5, pre_vote=True)).vote_granted
        assert replica.state.text == before

    def test_a_shorter_log_is_refused(self) -> None:
        replica = Replica()
        replica.log.append(batch(0, 1, b"a"))
        replica.log.flush()
        replica.start()
        assert not answer(replica, vote_request(2, 5, pre_vote=True)).vote_granted

    def test_a_later_epoch_is_taken_over(self) -> None:
        replica = Replica().start()
        assert answer(replica, vote_request(2, 5, pre_vote=True)).vote_granted
        assert replica.epoch == 5

    def test_the_epoch_of_the_log_is_allowed(self) -> None:
        assert answer(Replica().start(), vote_request(2, 5, end=(4, 5), pre_vote=True)).vote_granted

    def test_a_follower_that_has_not_fetched_grants(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        assert answer(replica, vote_request(3, 5, pre_vote=True)).vote_granted

    def test_a_follower_that_has_fetched_refuses(self) -> None:
        replica = Replica().start().become_follower(2, 5)
        sent = replica.sent.pop()
        replica.respond(sent, fetch_response(2, 5))
        assert not answer(replica, vote_request(3, 5, pre_vote=True)).vote_granted

    def test_a_leader_refuses(self) -> None:
        leader = Replica().start().become_leader()
        request = vote_request(2, leader.epoch, end=(100, leader.epoch), pre_vote=True)
        assert not answer(leader, request).vote_granted
        assert leader.kind is RoleKind.LEADER
