"""The quorum as the controller sees it: `RaftCore` behind the controller's port."""

from collections.abc import Collection, Sequence

from ottla.metadata.batch import record_values
from ottla.protocol.errors import NotControllerError, NotLeaderOrFollowerError
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.testing.simulation.raft.raft_part import RaftPart


class RaftQuorum:
    """Writes through the quorum part of the same node."""

    def __init__(self, raft: RaftPart) -> None:
        self._raft = raft

    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._raft.core.next_offset

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        """Appends one atomic batch; a quorum that has moved on is NOT_CONTROLLER to the controller."""
        try:
            return self._raft.core.append(epoch, record_values(records), self._raft.node.clock.now_ms())
        except NotLeaderOrFollowerError as error:
            raise NotControllerError(error.message) from error

    def leader_id(self) -> int | None:
        """The id of the leader, as far as this node knows."""
        return self._raft.core.leader.leader_id

    def voter_ids(self) -> Collection[int]:
        return [key.id for key in self._raft.core.voters.keys]

    def kraft_version(self) -> int:
        """The kraft.version that counts now."""
        return self._raft.core.kraft_version

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        """Raises kraft.version, or says why not."""
        now_ms = self._raft.node.clock.now_ms()
        self._raft.core.upgrade_kraft_version(epoch, level, now_ms, validate_only=validate_only)
