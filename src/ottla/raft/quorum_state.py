"""A replica's durable state of elections, and the line of JSON for it in `quorum-state`.

A vote, an epoch or a leader that was forgotten lets a replica vote twice, so every change is written before anything
that follows from it leaves the node. Version 0 goes with kraft.version 0 and lists the static voters, version 1 adds
the directory of the candidate voted for.
"""

import json
from typing import Any

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.raft.errors import QuorumStateError
from ottla.raft.identity import NO_NODE, ReplicaKey


@frozen
class ElectionState:
    """An epoch, its leader if known, and whom we voted for in it."""

    epoch: int
    leader_id: int | None = None
    voted_key: ReplicaKey | None = None
    voters: tuple[int, ...] = ()

    def is_vote_for(self, replica: ReplicaKey) -> bool:
        """Whether we voted for that replica."""
        return self.voted_key is not None and self.voted_key.is_met_by(replica)


def encode(state: ElectionState, kraft_version: int) -> str:
    """The file's text for a finalized kraft.version.

    >>> encode(ElectionState(epoch=2, leader_id=1, voters=(1,)), kraft_version=0)
    '{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1}],"data_version":0}'
    """
    leader_id = NO_NODE if state.leader_id is None else state.leader_id
    voted = state.voted_key or ReplicaKey(NO_NODE)
    fields: dict[str, object] = {"leaderId": leader_id, "leaderEpoch": state.epoch, "votedId": voted.id}
    if kraft_version == 0:
        voters = [{"voterId": voter} for voter in sorted(state.voters)]
        fields = {"clusterId": "", **fields, "appliedOffset": 0, "currentVoters": voters, "data_version": 0}
    else:
        fields |= {"votedDirectoryId": str(voted.directory_id), "data_version": 1}
    return json.dumps(fields, separators=(",", ":"))


def decode(text: str) -> ElectionState:
    """Reads the file's text; raises `QuorumStateError` for text that no version can have.

    >>> decode(encode(ElectionState(epoch=2, voted_key=ReplicaKey(3)), kraft_version=1)).voted_key
    ReplicaKey(id=3, directory_id=Uuid('AAAAAAAAAAAAAAAAAAAAAA'))
    """
    try:
        fields = json.loads(text)
        version = fields["data_version"]
        if version not in (0, 1):
            raise QuorumStateError(f"quorum-state has data_version {version}; this node reads 0 and 1")
        return _decode_fields(fields, version)
    except (ValueError, KeyError, TypeError) as error:
        raise QuorumStateError(f"quorum-state cannot be read: {error!r}") from error


def _decode_fields(fields: dict[str, Any], version: int) -> ElectionState:
    epoch, leader_id, voted_id = (_integer(fields[name]) for name in ("leaderEpoch", "leaderId", "votedId"))
    directory_id = Uuid.parse(fields["votedDirectoryId"]) if version >= 1 else ZERO_UUID
    voters = tuple(_integer(voter["voterId"]) for voter in fields["currentVoters"]) if version == 0 else ()
    return ElectionState(
        epoch=epoch,
        leader_id=None if leader_id == NO_NODE else leader_id,
        voted_key=None if voted_id == NO_NODE else ReplicaKey(voted_id, directory_id),
        voters=voters,
    )


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a number")
    return value
