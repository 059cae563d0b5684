"""A replicated partition as its leaders see it: a log of real batches, of which a part is committed.

Every leader works on a `LeaderLog`, its replica. What is committed is the same in all that come after; what is not may
be lost with the leader, or be in the next one's replica, by the dice. A leader that does not know yet that it was
deposed goes on writing into its own log, and nothing of that is ever committed.

    committed [0,5), leader 1 has [0,9) → leader 2 has [0,5), [0,6) … or [0,9); what leader 1 writes now is lost.

Producers are checked by the rules of `ottla.storage`.
"""

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from ottla.coordinator.ports import PartitionKey
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.validation import AppendOrigin
from ottla.storage.log.append_info import AppendOptions
from ottla.storage.producer_state.state import ProducerState

_PRODUCER_EXPIRATION_MS: Final = 2**40
_LAG_BATCHES_MAX: Final = 3
"""How many batches of what is committed a follower may not know to be so."""

Owner: TypeAlias = tuple[int, int]
"""A broker's id, and which run of its process."""


_NOBODY: Final = (-1, 0)


class LeaderLog:
    """The replica of a leader."""

    def __init__(self, owner: Owner, leader_epoch: int, batches: list[Batch]) -> None:
        self.owner: Final = owner
        self.leader_epoch = leader_epoch
        self.batches: Final = batches
        self.high_watermark = 0
        self.producers: Final = ProducerState(_PRODUCER_EXPIRATION_MS)
        for batch in batches:
            if batch.producer_id >= 0:
                completed = self.producers.replay(batch)
                if completed is not None:
                    self.producers.complete(completed)

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.batches[-1].next_offset if self.batches else 0

    def append(self, records: bytearray, options: AppendOptions) -> int:
        """Writes a batch, or finds that it was written before; the offset after it. Raises an `ApiError` to refuse."""
        batch = Batch(records)
        batch.assign(self.end_offset, self.leader_epoch)
        if batch.producer_id >= 0:
            known_end_offset = self._check(batch, options)
            if known_end_offset is not None:
                return known_end_offset
        self.batches.append(batch)
        return self.end_offset

    def _check(self, batch: Batch, options: AppendOptions) -> int | None:
        producers = self.producers
        if options.origin is AppendOrigin.CLIENT:
            duplicate = producers.find_duplicate(batch)
            if duplicate is not None:
                return duplicate.last_offset + 1
        if batch.is_transactional and options.verify_transactions:
            producers.check_verified(batch, options.verification)
        check = producers.check_copy(batch.producer_id, options.origin)
        completed = check.append(batch, options.transaction_version)
        producers.update((check,))
        if completed is not None:
            producers.complete(completed)
        return None


class ReplicatedPartition:
    """A partition through all changes of its leader."""

    def __init__(
        self, key: PartitionKey, random: Random, committed: Callable[[PartitionKey, list[Batch]], None]
    ) -> None:
        """`committed` hears of every batch, once, in order, when it can't be lost any more."""
        self.key: Final = key
        self.current = LeaderLog(_NOBODY, 0, [])
        """The newest leader's replica."""
        self.is_short_of_replicas = False
        """Whether fewer are in sync than have to be, so that nothing is taken."""
        self._random: Final = random
        self._committed: Final = committed
        self._committed_count = 0

    @property
    def committed_end_offset(self) -> int:
        """The end of the committed batches."""
        count = self._committed_count
        return self.current.batches[count - 1].next_offset if count else 0

    @property
    def committed_batches(self) -> list[Batch]:
        """The batches that all in-sync replicas have."""
        return self.current.batches[: self._committed_count]

    def has_all(self, log: LeaderLog) -> bool:
        """Whether a log has all committed batches, so that its broker may lead."""
        count = self._committed_count
        return count == 0 or (len(log.batches) >= count and log.batches[count - 1] is self.current.batches[count - 1])

    def elect(self, owner: Owner, leader_epoch: int, own: LeaderLog | None) -> None:
        """Makes a broker the leader.

        A broker that leads already, as far as it knows, keeps its `own` log. Another one has fetched the committed
        batches and a random number of those behind them, and may lag with the high watermark.
        """
        if own is not None:
            own.leader_epoch = leader_epoch
            self.current = own
            return
        before = self.current.batches
        kept = self._random.randint(self._committed_count, len(before))
        log = LeaderLog(owner, leader_epoch, before[:kept])
        known = max(0, self._committed_count - self._random.randint(0, _LAG_BATCHES_MAX))
        log.high_watermark = log.batches[known - 1].next_offset if known else 0
        self.current = log

    def log_of(self, owner: Owner, leader_epoch: int) -> LeaderLog:
        """The log that a broker leads with once it hears of its election, or a committed copy if it was replaced."""
        if self.current.owner == owner:
            return self.current
        return LeaderLog(owner, leader_epoch, self.current.batches[: self._committed_count])

    def replicated(self, log: LeaderLog, end_offset: int) -> None:
        """Commits the log of the leader up to an offset that all in-sync replicas have."""
        assert log is self.current
        found: list[Batch] = []
        while self._committed_count < len(log.batches) and log.batches[self._committed_count].next_offset <= end_offset:
            found.append(log.batches[self._committed_count])
            self._committed_count += 1
        log.high_watermark = max(log.high_watermark, end_offset)
        if found:
            self._committed(self.key, found)
