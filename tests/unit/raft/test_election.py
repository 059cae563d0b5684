"""Standing for election."""

from ottla.protocol.control_record import (
    KRaftVersionRecord,
    LeaderChangeMessage,
    LeaderChangeMessageVoter,
    VotersRecord,
)
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.fetch import FetchRequest
from ottla.protocol.messages.vote import VoteRequest
from ottla.protocol.records.batch import batches
from ottla.raft.effect import ApplyCommitted, LeaderChanged
from ottla.raft.identity import LeaderAndEpoch
from ottla.raft.log.control_batch import read_control_batch
from ottla.raft.quorum_state import decode
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import Replica, batch, begin_request, key, vote_response


def test_a_sole_voter_leads_and_commits_at_once() -> None:
    replica = Replica(voters=(1,)).start()
    assert replica.kind is RoleKind.LEADER
    assert replica.core.high_watermark == replica.log.end_offset > 0
    offset = replica.append(b"first")
    assert replica.core.high_watermark == offset + 1
    assert LeaderChanged(LeaderAndEpoch(1, 1)) in replica.told


def test_a_sole_voter_leads_the_next_epoch_after_a_restart() -> None:
    replica = Replica(voters=(1,)).start()
    replica.append(b"kept")
    replica.restart()
    assert (replica.kind, replica.epoch) == (RoleKind.LEADER, 2)
    applied = [effect for effect in replica.told if isinstance(effect, ApplyCommitted)]
    assert any(b"kept" in effect.batches for effect in applied)


def test_an_unattached_voter_asks_a_bootstrap_server_who_leads() -> None:
    replica = Replica().start()
    sent, request = replica.take_one(FetchRequest)
    assert sent.destination.id < -1
    assert request.topics[0].partitions[0].fetch_offset == 0


def test_pre_votes_come_first_and_keep_the_epoch() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    assert (replica.kind, replica.epoch) == (RoleKind.PROSPECTIVE, 0)
    asked = replica.take_sent(VoteRequest)
    assert [request.topics[0].partitions[0].pre_vote for _, request in asked] == [True, True]
    assert {request.voter_id for _, request in asked} == {2, 3}


def test_a_majority_of_pre_votes_makes_a_candidate_that_voted_for_itself() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    sent, _ = replica.take_sent(VoteRequest)[0]
    replica.respond(sent, vote_response(0, granted=True))
    assert (replica.kind, replica.epoch) == (RoleKind.CANDIDATE, 1)
    assert replica.state.text is not None
    assert decode(replica.state.text).voted_key == key(1)
    asked = [request.topics[0].partitions[0] for _, request in replica.take_sent(VoteRequest)]
    assert [(partition.pre_vote, partition.replica_epoch) for partition in asked] == [(False, 1), (False, 1)]


def test_refused_pre_votes_lead_nowhere() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    for sent, _ in replica.take_sent(VoteRequest):
        replica.respond(sent, vote_response(0, granted=False))
    assert (replica.kind, replica.epoch) == (RoleKind.UNATTACHED, 0)


def test_refused_pre_votes_lead_back_to_a_known_leader() -> None:
    replica = Replica().start().become_follower(2, 5)
    replica.pass_time(2000)
    assert replica.kind is RoleKind.PROSPECTIVE
    for sent, _ in replica.take_sent(VoteRequest):
        replica.respond(sent, vote_response(5, granted=False, leader_id=2))
    assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(2, 5))


def test_a_voter_without_pre_votes_is_asked_for_a_vote() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    sent, _ = replica.take_sent(VoteRequest)[0]
    replica.fail(sent, ErrorCode.UNSUPPORTED_VERSION)
    assert (replica.kind, replica.epoch) == (RoleKind.CANDIDATE, 1)


def test_the_leaders_first_batch_says_who_leads_and_who_votes() -> None:
    leader = Replica().start().become_leader()
    [first] = batches(leader.log.read(0, 1 << 20))
    messages = [message for _, message in read_control_batch(first)]
    change, version, voters = messages
    assert isinstance(change, LeaderChangeMessage)
    assert change.leader_id == 1
    assert change.voters == [LeaderChangeMessageVoter(voter_id=voter) for voter in (1, 2, 3)]
    assert LeaderChangeMessageVoter(voter_id=1) in change.granting_voters
    assert len(change.granting_voters) == 2
    assert isinstance(version, KRaftVersionRecord), "the bootstrap snapshot is not replicated, so the log repeats it"
    assert isinstance(voters, VotersRecord)
    assert first.partition_leader_epoch == leader.epoch


def test_a_later_leader_does_not_repeat_the_voters() -> None:
    replica = Replica(voters=(1,)).start()
    end = replica.log.end_offset
    replica.restart()
    [again] = batches(replica.log.read(end, 1 << 20))
    assert [type(message) for _, message in read_control_batch(again)] == [LeaderChangeMessage]


def test_a_candidate_whose_time_is_up_asks_again_with_pre_votes() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    replica.respond(replica.take_sent(VoteRequest)[0][0], vote_response(0, granted=True))
    replica.pass_time(1000)
    assert (replica.kind, replica.epoch) == (RoleKind.PROSPECTIVE, 1)


def test_a_lost_election_is_sat_out() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    replica.respond(replica.take_sent(VoteRequest)[0][0], vote_response(0, granted=True))
    for sent, _ in replica.take_sent(VoteRequest):
        replica.respond(sent, vote_response(1, granted=False))
    replica.pass_time(500)
    assert replica.kind is RoleKind.CANDIDATE
    assert replica.take_sent(VoteRequest) == []


def test_a_vote_response_of_a_later_epoch_ends_the_candidacy() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    replica.respond(replica.take_sent(VoteRequest)[0][0], vote_response(7, granted=False))
    assert (replica.kind, replica.epoch) == (RoleKind.UNATTACHED, 7)


def test_a_vote_that_is_granted_late_does_not_count_in_another_epoch() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    pre_votes = replica.take_sent(VoteRequest)
    replica.respond(pre_votes[0][0], vote_response(0, granted=True))
    replica.respond(pre_votes[1][0], vote_response(0, granted=True))
    assert replica.kind is RoleKind.CANDIDATE, "the second pre-vote is no vote"


def test_a_candidate_follows_whoever_won() -> None:
    replica = Replica().start()
    replica.pass_time(1000)
    replica.respond(replica.take_sent(VoteRequest)[0][0], vote_response(0, granted=True))
    replica.ask(begin_request(3, 1))
    assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(3, 1))


def test_no_vote_is_asked_for_a_log_that_a_crash_could_take() -> None:
    replica = Replica(voters=(1, 2, 3))
    replica.start().become_follower(2, 1)
    replica.flushes = False
    replica.log.append(batch(0, 1, b"a"))
    replica.pass_time(2000)
    assert replica.kind is RoleKind.PROSPECTIVE
    assert replica.take_sent(VoteRequest) == []
    replica.flush()
    assert len(replica.take_sent(VoteRequest)) == 2


def test_an_observer_never_stands() -> None:
    observer = Replica(node_id=4, voters=(1, 2, 3)).start()
    observer.pass_time(60_000)
    assert observer.kind is RoleKind.UNATTACHED
    assert observer.take_sent(VoteRequest) == []


class TestRestart:
    """What a replica finds itself after a restart."""

    def test_a_leader_is_resigned(self) -> None:
        leader = Replica().start().become_leader()
        epoch = leader.epoch
        leader.restart()
        assert (leader.kind, leader.epoch) == (RoleKind.RESIGNED, epoch)
        leader.pass_time(1000)
        assert leader.epoch == epoch + 1

    def test_a_candidate_stands_again_in_the_same_epoch(self) -> None:
        replica = Replica().start()
        replica.pass_time(1000)
        replica.respond(replica.take_sent(VoteRequest)[0][0], vote_response(0, granted=True))
        replica.restart()
        assert (replica.kind, replica.epoch) == (RoleKind.CANDIDATE, 1)

    def test_a_follower_follows_on(self) -> None:
        replica = Replica().start().become_follower(2, 5).restart()
        assert (replica.kind, replica.core.leader) == (RoleKind.FOLLOWER, LeaderAndEpoch(2, 5))

    def test_a_log_newer_than_quorum_state_decides_the_epoch(self) -> None:
        replica = Replica()
        replica.log.append(batch(0, 9, b"a"))
        replica.log.flush()
        replica.start()
        assert (replica.kind, replica.epoch) == (RoleKind.UNATTACHED, 9)
