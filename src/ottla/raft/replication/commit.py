"""The effects of a growing log and a moving high watermark on a leader."""

from ottla.raft.context import RaftContext
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.add_voter import AddVoter
from ottla.raft.voters.remove_voter import RemoveVoter


class Commit:
    """Writes what the leader has collected and follows what the voters hold."""

    def __init__(self, context: RaftContext, add_voter: AddVoter, remove_voter: RemoveVoter) -> None:
        self._context = context
        self._add_voter = add_voter
        self._remove_voter = remove_voter

    def write_pending(self, leader: Leader, now_ms: int) -> None:
        """Writes batches whose time has come; durability follows with the flush."""
        if leader.accumulator.drain_deadline_ms > now_ms:
            return
        for batch in leader.accumulator.drain():
            self._context.log.append(batch)
        self._context.voters.update()
        self._context.flush()
        self.log_changed(leader)

    def log_changed(self, leader: Leader) -> None:
        """The log was appended to or flushed."""
        if leader.flushed(self._context.log.flushed_end_offset, self._context.voters.last_set):
            self.high_watermark_moved(leader)

    def high_watermark_moved(self, leader: Leader) -> None:
        """More is committed: voter changes finish and the listener goes on."""
        high_watermark = leader.high_watermark
        assert high_watermark is not None
        self._add_voter.committed(leader, high_watermark)
        self._remove_voter.committed(leader, high_watermark)
        self._context.listener.advance(high_watermark)
