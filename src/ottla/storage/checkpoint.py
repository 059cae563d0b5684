"""Offsets per partition in a small text file of a log directory: recovery points, high watermarks and the like.

Version `0`, the number of entries, then `<topic> <partition> <offset>` a line. The file is replaced as a whole, so a
reader finds the old or the new one. Noise or a wrong count means that something else wrote it: refused with the line,
because a recovery point or log start that is silently lost serves deleted records again. An empty file is no
checkpoint yet: Apache Kafka makes them so when it starts.
"""

import threading
from collections.abc import Callable, Mapping
from typing import Final

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.disk.port import Disk
from ottla.storage.errors import CorruptFileError
from ottla.storage.topic_partition import TopicPartition

RECOVERY_POINT_CHECKPOINT: Final = "recovery-point-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT: Final = "replication-offset-checkpoint"
LOG_START_CHECKPOINT: Final = "log-start-offset-checkpoint"
CLEANER_CHECKPOINT: Final = "cleaner-offset-checkpoint"

_VERSION: Final = "0"
_SHOWN_MAX: Final = 80
_WITHOUT_IT: Final = {
    RECOVERY_POINT_CHECKPOINT: "all logs are read anew, and cut where they are damaged",
    HIGH_WATERMARK_CHECKPOINT: "consumers wait until the replicas in sync have answered",
    LOG_START_CHECKPOINT: "deleted records may be back, up to a segment of each partition",
    CLEANER_CHECKPOINT: "compaction begins anew",
}
"""What an operator decides on who moves a file away that cannot be read."""


class OffsetCheckpoint:
    """One such file. Any thread may write it; who works out what to write holds `lock` meanwhile."""

    __slots__ = ("_disk", "lock", "path")

    def __init__(self, disk: Disk, directory: str, name: str) -> None:
        self._disk = disk
        self.lock = threading.RLock()
        self.path = f"{directory}/{name}"

    def read(self) -> dict[TopicPartition, int]:
        """The offsets in the file, if there is one; `CorruptFileError` names the line that is wrong."""
        data = read_whole(self._disk, self.path)
        return self._parse(data) if data else {}

    def write(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Replaces the file; the offsets are on the disk when this returns."""
        lines = [_VERSION, str(len(offsets))]
        lines += [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
        with self.lock:
            write_atomically(self._disk, self.path, ("\n".join(lines) + "\n").encode())

    def update(self, change: Callable[[dict[TopicPartition, int]], Mapping[TopicPartition, int]]) -> None:
        """Replaces the file by what `change` makes of it, if that is anything else."""
        with self.lock:
            before = self.read()
            after = change(dict(before))
            if after != before:
                self.write(after)

    def _parse(self, data: bytes) -> dict[TopicPartition, int]:
        try:
            lines = data.decode().splitlines()
        except UnicodeDecodeError as error:
            raise self._refusal(f"no text at byte {error.start}") from error
        if lines[0].strip() != _VERSION:
            raise self._refuse(1, f"version {_shown(lines[0])}, {_VERSION} expected")
        expected = _number(lines[1]) if len(lines) > 1 else None
        if expected is None:
            raise self._refuse(2, "no number of entries")
        offsets: dict[TopicPartition, int] = {}
        for number, line in enumerate(lines[2:], start=3):
            fields = line.split()
            partition, offset = (_number(fields[1]), _number(fields[2])) if len(fields) == 3 else (None, None)
            if partition is None or offset is None:
                raise self._refuse(number, f"{_shown(line)} is no topic, partition and offset")
            offsets[TopicPartition(fields[0], partition)] = offset
        if len(offsets) != expected or len(lines) != expected + 2:
            raise self._refuse(2, f"{expected} entries announced, {len(lines) - 2} lines of {len(offsets)} partitions")
        return offsets

    def _refuse(self, line: int, reason: str) -> CorruptFileError:
        return self._refusal(f"line {line}: {reason}")

    def _refusal(self, reason: str) -> CorruptFileError:
        consequence = _WITHOUT_IT.get(self.path.rpartition("/")[2])
        advice = "" if consequence is None else f"; the node starts without this file, but then {consequence}"
        return CorruptFileError(reason + advice, self.path)


def _shown(line: str) -> str:
    """The line for a message, cut if it is long: noise may be all there is."""
    return repr(line) if len(line) <= _SHOWN_MAX else f"{line[:_SHOWN_MAX]!r}..."


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.removeprefix("-").isdecimal() and text.isascii() else None
