"""The offset up to which the metadata log was certainly on the disk: damage below it is the disk's.

Without it a bit flip looks like the torn end of an interrupted write, and recovery would cut off topics that clients
were told of. The offset is written after each flush of the log and not flushed itself, which costs microseconds: a
killed process leaves it exact, a power cut leaves an older one, and an older one is true as well. Before the log is
truncated it is lowered, for good.

The file has the form of Kafka's recovery point checkpoints, in the log's own directory, where Kafka leaves it alone.
"""

import logging
from typing import Final

from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC
from ottla.storage.checkpoint import RECOVERY_POINT_CHECKPOINT, OffsetCheckpoint
from ottla.storage.disk.atomic import write_atomically
from ottla.storage.disk.port import Access, Disk, File
from ottla.storage.errors import CorruptFileError
from ottla.storage.topic_partition import TopicPartition

_PARTITION: Final = TopicPartition(METADATA_TOPIC, METADATA_PARTITION)

_log = logging.getLogger(__name__)


class FlushMarker:
    """The file of one log. Before `create` it can only be read."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._checkpoint = OffsetCheckpoint(disk, directory, RECOVERY_POINT_CHECKPOINT)
        self._file: File | None = None
        self._offset = 0

    @property
    def path(self) -> str:
        """The file."""
        return self._checkpoint.path

    def read(self) -> int | None:
        """The offset up to which the log was flushed; None if that is unknown: Apache Kafka does not write it.

        Noise is as good as none: what the log itself shows is all that there is to go by then.
        """
        try:
            return self._checkpoint.read().get(_PARTITION)
        except CorruptFileError as problem:
            _log.warning("%s; it is written anew", problem)
            return None

    def create(self, offset: int) -> None:
        """Begins to keep count; on the disk when it returns."""
        write_atomically(self._disk, self.path, _text(offset))
        self._file = self._disk.open(self.path, Access.WRITE)
        self._offset = offset

    def advance(self, offset: int) -> None:
        """The log is on the disk up to an offset."""
        if offset > self._offset:
            self._write(offset)

    def lower(self, offset: int) -> None:
        """The log is about to lose everything from an offset on; on the disk when it returns."""
        if offset < self._offset:
            self._write(offset).flush()

    def _write(self, offset: int) -> File:
        # Always as long, and within one sector: an interrupted write leaves the old text or the new one.
        assert self._file is not None
        self._file.write(0, (_text(offset),))
        self._offset = offset
        return self._file


def _text(offset: int) -> bytes:
    return f"0\n1\n{_PARTITION.topic} {_PARTITION.partition} {offset:020d}\n".encode()
