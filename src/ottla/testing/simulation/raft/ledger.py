"""The committed log as seen from outside: every batch that any node ever called committed."""

from typing import NamedTuple

from ottla.protocol.control_record import VotersRecord
from ottla.protocol.records.batch import Batch, batches
from ottla.raft.log.control_batch import read_control_batch
from ottla.raft.voters.history import LogHistory
from ottla.raft.voters.voter_set import VoterSet


class CommittedBatch(NamedTuple):
    """A batch that was committed."""

    next_offset: int
    epoch: int
    crc: int


class CommittedLedger:
    """The committed batches, which grow as high watermarks move and never change."""

    def __init__(self) -> None:
        self.batches: dict[int, CommittedBatch] = {}
        self.end_offset = 0
        self._ends: dict[int, int] = {}
        """How much was committed by each epoch; a leader that is late for its own knows nothing of later ones."""
        self.voters: LogHistory[VoterSet] = LogHistory()
        self.values: dict[tuple[int, int], bytes] = {}
        """Applied values by epoch and offset."""

    def end_before(self, epoch: int) -> int:
        """The end of the log that earlier epochs committed, all of which the leader of `epoch` must have."""
        return max((end for known, end in self._ends.items() if known < epoch), default=0)

    def contradiction(self, batch: Batch, seen_in_epoch: int) -> str | None:
        """Compares a batch that a node has committed by that epoch with what was committed before, or adds it."""
        seen = CommittedBatch(batch.next_offset, batch.partition_leader_epoch, batch.crc)
        known = self.batches.get(batch.base_offset)
        if known is not None:
            return None if known == seen else f"offset {batch.base_offset} is {seen}, but {known} was committed"
        if batch.base_offset != self.end_offset:
            return f"a batch at {batch.base_offset} after the committed log of {self.end_offset} records"
        self.batches[batch.base_offset] = seen
        self.end_offset = self._ends[seen_in_epoch] = batch.next_offset
        return self._voters_contradiction(batch)

    def covers(self, log_data: bytes) -> bool:
        """Whether the first batch of these bytes of a log is the committed one at its offset."""
        for batch in batches(log_data):
            seen = CommittedBatch(batch.next_offset, batch.partition_leader_epoch, batch.crc)
            return self.batches.get(batch.base_offset) == seen
        return False

    def _voters_contradiction(self, batch: Batch) -> str | None:
        if not batch.is_control:
            return None
        for offset, message in read_control_batch(batch):
            if isinstance(message, VotersRecord):
                voters, last = VoterSet.of_record(message), self.voters.last()
                self.voters.add(offset, voters)
                if last is not None and not last[1].has_overlapping_majority(voters):
                    return f"voters {last[1].keys} were followed by {voters.keys} at {offset}"
        return None
