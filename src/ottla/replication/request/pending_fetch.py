"""A fetch that waits for enough bytes.

What happens to one partition is looked at for that partition only, so a fetch of a thousand partitions costs no more
with every record than one of a single partition. When it completes everything is read again.
"""

from collections.abc import Collection, Sequence

from ottla.replication.partition.partition import Partition
from ottla.replication.partition.reading import refuse
from ottla.replication.partition_table import PartitionTable
from ottla.replication.request.fetch import READ_COMMITTED, FetchDone, FetchParams, FetchPartition
from ottla.replication.request.log_reader import LogReader
from ottla.storage.errors import StorageError


class PendingFetch:
    """A fetch and what is there for it so far."""

    __slots__ = ("_available", "_cold", "_done", "_params", "_reader", "_table", "_wanted", "_wanted_of")

    def __init__(self, table: PartitionTable, reader: LogReader, params: FetchParams, done: FetchDone) -> None:
        self._table = table
        self._reader = reader
        self._params = params
        self._done = done
        self._wanted: Sequence[FetchPartition] = ()
        self._wanted_of: dict[Partition, FetchPartition] = {}
        self._cold: list[Partition] = []
        """Partitions that threads were reading for it when it began to wait."""
        self._available: dict[Partition, int] = {}
        """Bytes at hand by partition, if more than one is wanted."""

    def watch(self, wanted: Sequence[FetchPartition]) -> Collection[Partition] | None:
        """Takes what is wanted; the partitions that something has to happen to, None if it has happened already.

        What a follower says of its progress may set a producer free, who writes at once: that is news since the read.
        """
        online = self._table.online
        is_follower = self._params.replica_id >= 0
        self._wanted = wanted
        for want in wanted:
            partition = online.get((want.topic, want.partition))
            if partition is None:
                return None
            self._wanted_of[partition] = want
            if self._reader.is_being_read(partition, want.fetch_offset):
                self._cold.append(partition)
            if is_follower and want.fetch_offset < partition.log.log_end_offset and self.is_ready(partition):
                return None
        if self._params.min_bytes > 1:
            for partition in self._wanted_of:
                self._note(partition)
        return self._wanted_of.keys()

    def is_ready(self, key: Partition) -> bool:
        """Whether there is enough now, or an answer that is no records."""
        if not self._table.is_here(key) or refuse(key, self._params, self._wanted_of[key]) is not None:
            return True
        if not self._has_news(key) or self._reader.is_held_up(key, self._params):
            return False
        if self._is_being_read(key):
            return False
        together = [key]
        if key in self._cold:
            # All that it waits for on a disk comes together.
            together = self._cold
            if any(self._is_being_read(other) for other in together):
                return False
        if self._params.min_bytes <= 1:
            return True
        for partition in together:
            self._note(partition)
        return sum(self._available.values()) >= self._params.min_bytes

    def complete(self) -> None:
        """Answers with all that is there now."""
        results = self._reader.read(self._params, self._wanted, is_first=False).results
        self._reader.answered(self._params, self._wanted, results)
        self._done(results)

    expired = complete

    def _is_being_read(self, partition: Partition) -> bool:
        return self._reader.is_being_read(partition, self._wanted_of[partition].fetch_offset)

    def _has_news(self, partition: Partition) -> bool:
        params, log = self._params, partition.log
        if params.replica_id >= 0:
            end_offset = log.log_end_offset
        else:
            is_committed = params.isolation_level == READ_COMMITTED
            end_offset = log.last_stable_offset if is_committed else log.high_watermark
        return self._wanted_of[partition].fetch_offset < end_offset

    def _note(self, partition: Partition) -> None:
        want = self._wanted_of[partition]
        if self._reader.is_held_up(partition, self._params):
            self._available[partition] = 0
            return
        try:
            self._available[partition] = self._reader.available(partition, self._params, want)
        except StorageError:
            # Who completes the fetch reads again, and so comes upon it.
            self._available[partition] = self._params.min_bytes
