"""A follower's progress by its fetch, and the effects: records are committed, the ISR grows.

Those who wait for the high watermark (producers with acks=all, consumers, DeleteRecords) go on from here.
"""

from typing import Final

from ottla.base.clock import Clock
from ottla.protocol.errors import NotLeaderOrFollowerError
from ottla.replication.isr_updater import IsrUpdater
from ottla.replication.partition.follower_progress import FollowerFetch
from ottla.replication.partition.partition import Partition
from ottla.replication.request.fetch import FetchParams, FetchPartition
from ottla.replication.schedule.waiting import Waiting


class FollowerFetches:
    """Takes in the fetches of followers. Loop thread only."""

    def __init__(self, waiting: Waiting, isr: IsrUpdater, clock: Clock) -> None:
        self._waiting: Final = waiting
        self._isr: Final = isr
        self._clock: Final = clock

    def note(self, partition: Partition, params: FetchParams, want: FetchPartition) -> bool:
        """Notes how far a follower has come; False if it is one of a former incarnation."""
        fetch = FollowerFetch(params.replica_id, params.replica_epoch, want.fetch_offset, want.log_start_offset)
        try:
            progress = partition.follower_fetched(fetch, self._clock.monotonic_ms())
        except NotLeaderOrFollowerError:
            return False
        if progress.moved or partition in self._waiting.deletions.watched:
            self._waiting.check(partition)
        if progress.proposed is not None:
            self._isr.propose(partition, progress.proposed)
        return True
