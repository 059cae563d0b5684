"""quorum-state: the text that Kafka writes, and what is refused."""

import pytest

from ottla.raft.errors import QuorumStateError
from ottla.raft.identity import ReplicaKey
from ottla.raft.quorum_state import ElectionState, decode, encode
from tests.unit.raft.replica import directory


def test_version_0_is_the_line_that_kafka_writes() -> None:
    state = ElectionState(epoch=2, leader_id=1, voters=(1, 2))
    assert encode(state, kraft_version=0) == (
        '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,'
        '"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}'
    )


def test_version_1_is_the_line_that_kafka_writes() -> None:
    state = ElectionState(epoch=2, voted_key=ReplicaKey(1, directory(1)), voters=(1, 2))
    assert encode(state, kraft_version=1) == (
        '{"leaderId":-1,"leaderEpoch":2,"votedId":1,"votedDirectoryId":"AQEBAQEBAQEBAQEBAQEBAQ","data_version":1}'
    )


@pytest.mark.parametrize("kraft_version", [0, 1])
def test_what_is_written_is_read(kraft_version: int) -> None:
    voted = ReplicaKey(3, directory(3)) if kraft_version else ReplicaKey(3)
    state = ElectionState(epoch=7, voted_key=voted, voters=() if kraft_version else (1, 3))
    assert decode(encode(state, kraft_version)) == state


def test_an_unknown_vote_directory_meets_any() -> None:
    assert ElectionState(epoch=1, voted_key=ReplicaKey(1)).is_vote_for(ReplicaKey(1, directory(1)))
    assert not ElectionState(epoch=1, voted_key=ReplicaKey(1, directory(9))).is_vote_for(ReplicaKey(1, directory(1)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "noise",
        '{"leaderId":-1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":2}',
        '{"leaderId":-1,"leaderEpoch":2,"votedId":-1,"votedDirectoryId":"short","data_version":1}',
        '{"leaderId":-1,"leaderEpoch":"two","votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
        '{"leaderId":-1,"leaderEpoch":2,"votedId":-1,"data_version":0}',
    ],
)
def test_damaged_text_is_refused(text: str) -> None:
    with pytest.raises(QuorumStateError):
        decode(text)
