"""RemoveRaftVoter, the leader among others."""

import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import remove_raft_voter as remove
from ottla.raft.roles.role import RoleKind
from tests.unit.raft.replica import CLUSTER_ID, Replica, directory, fetch_request, voter_set


def request(voter: int, **changes: object) -> remove.RemoveRaftVoterRequest:
    made = remove.RemoveRaftVoterRequest(cluster_id=CLUSTER_ID, voter_id=voter, voter_directory_id=directory(voter))
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def error(response: object) -> ErrorCode:
    assert isinstance(response, remove.RemoveRaftVoterResponse)
    return ErrorCode(response.error_code)


def catch_up(leader: Replica, *replicas: int) -> None:
    for replica in replicas:
        leader.ask(fetch_request(replica, leader.epoch, leader.log.end_offset, leader.epoch))


@pytest.fixture
def leader() -> Replica:
    replica = Replica().start().become_leader()
    catch_up(replica, 2)
    return replica


def test_a_follower_is_removed_by_those_who_stay(leader: Replica) -> None:
    asked = leader.receive(request(3))
    assert leader.core.voters == voter_set(1, 2)
    catch_up(leader, 3)
    assert asked not in leader.answers, "whoever goes does not count"
    catch_up(leader, 2)
    assert error(leader.answers[asked]) == ErrorCode.NONE


def test_a_leader_removes_itself_and_resigns_once_that_is_committed(leader: Replica) -> None:
    asked = leader.receive(request(1))
    assert leader.kind is RoleKind.LEADER
    catch_up(leader, 2)
    assert (leader.kind, asked in leader.answers) == (RoleKind.LEADER, False)
    catch_up(leader, 3)
    assert error(leader.answers[asked]) == ErrorCode.NONE
    assert leader.kind is RoleKind.RESIGNED
    leader.pass_time(30_000)
    assert leader.kind is RoleKind.UNATTACHED, "it is an observer now and stands no more"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"cluster_id": "another"}, ErrorCode.INCONSISTENT_CLUSTER_ID),
        ({"voter_id": -1}, ErrorCode.INVALID_REQUEST),
        ({"voter_directory_id": directory(0)}, ErrorCode.INVALID_REQUEST),
        ({"voter_id": 9}, ErrorCode.VOTER_NOT_FOUND),
        ({"voter_directory_id": directory(9)}, ErrorCode.VOTER_NOT_FOUND),
    ],
)
def test_bad_requests(leader: Replica, changes: dict[str, object], expected: ErrorCode) -> None:
    assert error(leader.ask(request(3, **changes))) == expected


def test_the_last_voter_stays() -> None:
    leader = Replica(voters=(1,)).start()
    assert error(leader.ask(request(1))) == ErrorCode.VOTER_NOT_FOUND


def test_static_voters_do_not_change() -> None:
    leader = Replica(voters=(1,), static=True).start()
    assert error(leader.ask(request(1))) == ErrorCode.UNSUPPORTED_VERSION


def test_one_change_at_a_time(leader: Replica) -> None:
    leader.receive(request(3))
    assert error(leader.ask(request(2))) == ErrorCode.REQUEST_TIMED_OUT


def test_only_the_leader_removes() -> None:
    assert error(Replica().start().become_follower(2, 5).ask(request(3))) == ErrorCode.NOT_LEADER_OR_FOLLOWER
