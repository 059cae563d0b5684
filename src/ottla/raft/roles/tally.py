"""The votes of one election."""

from collections.abc import Iterable

from ottla.raft.identity import ReplicaKey


class VoteTally:
    """Granted and refused votes, against the majority of the voters at the start.

    >>> tally = VoteTally([ReplicaKey(1), ReplicaKey(2), ReplicaKey(3)], local_id=1)
    >>> tally.record(2, granted=True)
    >>> tally.is_won, tally.is_lost
    (True, False)
    """

    def __init__(self, voters: Iterable[ReplicaKey], local_id: int) -> None:
        self._voters = {voter.id: voter for voter in voters}
        self._votes: dict[int, bool] = {local_id: True}

    def record(self, voter_id: int, *, granted: bool) -> None:
        """Notes a voter's answer; those of others don't count. The last word of a voter holds."""
        if voter_id in self._voters:
            self._votes[voter_id] = granted

    @property
    def unrecorded(self) -> list[ReplicaKey]:
        """Voters that have not answered."""
        return [voter for voter_id, voter in self._voters.items() if voter_id not in self._votes]

    @property
    def granting(self) -> list[int]:
        """Voters that said yes, ourselves among them."""
        return sorted(voter_id for voter_id, granted in self._votes.items() if granted)

    @property
    def is_won(self) -> bool:
        """Whether a majority said yes."""
        return len(self.granting) >= self._majority

    @property
    def is_lost(self) -> bool:
        """Whether a majority can no longer say yes."""
        return len(self.granting) + len(self.unrecorded) < self._majority

    @property
    def _majority(self) -> int:
        return len(self._voters) // 2 + 1
