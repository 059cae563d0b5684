"""AddRaftVoter: the checks, the probe, the record, the answer."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import add_raft_voter as add
from ottla.protocol.messages import api_versions
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import CLUSTER_ID, LISTENER, Replica, directory, fetch_request, vote_request, voter_set


def request(voter: int = 4, **changes: object) -> add.AddRaftVoterRequest:
    listener = add.Listener(name=LISTENER, host=f"c{voter}", port=9093)
    made = add.AddRaftVoterRequest(
        cluster_id=CLUSTER_ID,
        timeout_ms=1000,
        voter_id=voter,
        voter_directory_id=directory(voter),
        listeners=[listener],
    )
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def versions(lowest: int = 0, highest: int = 1) -> api_versions.ApiVersionsResponse:
    feature = api_versions.SupportedFeatureKey(name="kraft.version", min_version=lowest, max_version=highest)
    return api_versions.ApiVersionsResponse(supported_features=[feature])


def error(response: object) -> ErrorCode:
    assert isinstance(response, add.AddRaftVoterResponse)
    return ErrorCode(response.error_code)


def catch_up(leader: Replica, *replicas: int) -> None:
    for replica in replicas:
        leader.ask(fetch_request(replica, leader.epoch, leader.log.end_offset, leader.epoch))


@pytest.fixture
def leader() -> Replica:
    replica = Replica().start().become_leader()
    catch_up(replica, 2, 4)
    return replica


def test_a_caught_up_observer_becomes_a_voter(leader: Replica) -> None:
    asked = leader.receive(request())
    probe, _ = leader.take_one(api_versions.ApiVersionsRequest)
    assert (probe.destination.id, probe.destination.host) == (4, "c4")
    leader.respond(probe, versions())
    assert leader.core.voters == voter_set(1, 2, 3, 4), "it counts from the moment it is in the log"
    assert asked not in leader.answers
    catch_up(leader, 2)
    assert asked not in leader.answers, "two of four are no majority"
    catch_up(leader, 4)
    assert error(leader.answers[asked]) == ErrorCode.NONE


def test_an_automatic_join_is_answered_before_the_commit(leader: Replica) -> None:
    asked = leader.receive(request(ack_when_committed=False))
    leader.respond(leader.take_one(api_versions.ApiVersionsRequest)[0], versions())
    assert error(leader.answers[asked]) == ErrorCode.NONE
    assert leader.core.high_watermark != leader.log.end_offset


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"voter_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"voter_directory_id": directory(0)}, ErrorCode.INVALID_REQUEST),
        ({"listeners": []}, ErrorCode.INVALID_REQUEST),
        ({"voter_id": 2}, ErrorCode.DUPLICATE_VOTER),
    ],
)
def test_bad_requests(leader: Replica, changes: dict[str, object], expected: ErrorCode) -> None:
    assert error(leader.ask(request(**changes))) == expected


def test_only_the_leader_adds() -> None:
    follower = Replica().start().become_follower(2, 5)
    assert error(follower.ask(request())) == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_leader_that_has_not_committed_in_its_epoch_waits() -> None:
    leader = Replica().start().become_leader()
    assert error(leader.ask(request())) == ErrorCode.REQUEST_TIMED_OUT


def test_static_voters_do_not_change() -> None:
    leader = Replica(voters=(1,), static=True).start()
    assert error(leader.ask(request())) == ErrorCode.UNSUPPORTED_VERSION


def test_one_change_at_a_time(leader: Replica) -> None:
    leader.receive(request())
    assert error(leader.ask(request(5))) == ErrorCode.REQUEST_TIMED_OUT


def test_a_change_that_timed_out_in_the_log_still_blocks_the_next(leader: Replica) -> None:
    asked = leader.receive(request())
    leader.respond(leader.take_one(api_versions.ApiVersionsRequest)[0], versions())
    leader.pass_time(2000)
    assert error(leader.answers[asked]) == ErrorCode.REQUEST_TIMED_OUT
    assert error(leader.ask(request(5))) == ErrorCode.REQUEST_TIMED_OUT


def test_a_newcomer_that_does_not_answer_is_not_added(leader: Replica) -> None:
    asked = leader.receive(request())
    leader.fail(leader.take_one(api_versions.ApiVersionsRequest)[0])
    assert error(leader.answers[asked]) == ErrorCode.REQUEST_TIMED_OUT
    assert leader.core.voters == voter_set(1, 2, 3)


def test_a_newcomer_that_cannot_run_at_the_finalized_level_is_not_added(leader: Replica) -> None:
    asked = leader.receive(request())
    leader.respond(leader.take_one(api_versions.ApiVersionsRequest)[0], versions(0, 0))
    assert error(leader.answers[asked]) == ErrorCode.INVALID_REQUEST


def test_a_newcomer_that_lags_is_not_added(leader: Replica) -> None:
    asked = leader.receive(request(5))
    leader.respond(leader.take_one(api_versions.ApiVersionsRequest)[0], versions())
    assert error(leader.answers[asked]) == ErrorCode.REQUEST_TIMED_OUT
    assert leader.core.voters == voter_set(1, 2, 3)


def test_the_end_of_the_leadership_ends_the_addition(leader: Replica) -> None:
    asked = leader.receive(request())
    leader.respond(leader.take_one(api_versions.ApiVersionsRequest)[0], versions())
    leader.ask(vote_request(3, leader.epoch + 1))
    assert leader.kind is RoleKind.UNATTACHED
    assert error(leader.answers[asked]) == ErrorCode.NOT_LEADER_OR_FOLLOWER
