"""Looks at every batch of the metadata log before it is opened, and refuses damage that is no interrupted write.

Recovery cuts a log at the first batch that is not whole. For the torn end of a crash that is right: no client was
promised those records. For a batch that was on the disk before it would silently undo the cluster's topics, so the
node must not start. `flushed` tells the two apart: log [0,10)[10,20)[20,30) with damage in the second batch and
flushed 30 → refused; flushed 10 → cut at 10. A log that Apache Kafka wrote has no such count: there, whole batches
behind the damage show that it is not the end.
"""

import contextlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.protocol.errors import DecodeError
from ottla.protocol.records.batch import Batch
from ottla.storage.checkpoint import RECOVERY_POINT_CHECKPOINT
from ottla.storage.disk.port import Access, Disk, File
from ottla.storage.errors import CorruptFileError
from ottla.storage.segment import file_name
from ottla.storage.segment.scan import BatchScan, StoredBatch

_HEADER_BYTES: Final = 61
_MAGIC_POSITION: Final = 16
_OVERHEAD_BYTES: Final = 12


class Damage(NamedTuple):
    """The first thing that is wrong: where, and which offset should have come there."""

    path: str
    position: int
    next_offset: int
    reason: str
    followers: tuple[str, ...]
    """The segments behind it."""


def check_log(disk: Disk, directory: str, flushed: int | None) -> None:
    """Raises `CorruptFileError` if the log in a directory lost what it once had; changes nothing."""
    paths = _segment_paths(disk, directory)
    damage, end_offset = _first_damage(disk, paths)
    if damage is None:
        if flushed is not None and end_offset < flushed:
            reason = f"the log ends at offset {end_offset}, but it was on the disk up to {flushed}"
            raise CorruptFileError(f"{reason} ({RECOVERY_POINT_CHECKPOINT}); {_ADVICE}", directory)
        return
    if flushed is None:
        if _goes_on(disk, damage):
            raise _refusal(damage, "whole batches follow")
    elif damage.next_offset < flushed:
        raise _refusal(damage, f"the log was on the disk up to offset {flushed}")


_ADVICE: Final = (
    "restore the directory from a backup, or empty it and let the node fetch its log from the other controllers"
)


def _refusal(damage: Damage, evidence: str) -> CorruptFileError:
    reason = f"{damage.reason} at position {damage.position}, where offset {damage.next_offset} should be"
    return CorruptFileError(f"{reason}, and {evidence}: this is no interrupted write; {_ADVICE}", damage.path)


def _segment_paths(disk: Disk, directory: str) -> list[str]:
    parsed = [file_name.parse(name) for name in disk.list(directory)]
    bases = sorted(
        file.base_offset for file in parsed if file is not None and file.kind == file_name.LOG and not file.transient
    )
    return [f"{directory}/{file_name.name_of(base, file_name.LOG)}" for base in bases]


def _first_damage(disk: Disk, paths: list[str]) -> tuple[Damage | None, int]:
    """The first damage, if any, and the offset up to which there is none."""
    next_offset: int | None = None
    for slot, path in enumerate(paths):
        base_offset = int(path.rpartition("/")[2].partition(".")[0])
        if next_offset is not None and base_offset != next_offset:
            reason = f"the segment begins at offset {base_offset}"
            return Damage(path, 0, next_offset, reason, tuple(paths[slot:])), next_offset
        file = disk.open(path, Access.READ)
        scan = BatchScan(file, 0, file.size())
        next_offset = base_offset
        for batch in scan:
            problem = _problem(batch, next_offset)
            if problem is not None:
                return Damage(path, scan.batch_position, next_offset, problem, tuple(paths[slot + 1 :])), next_offset
            next_offset = batch.next_offset
        if scan.problem is not None:
            return Damage(path, scan.position, next_offset, scan.problem, tuple(paths[slot + 1 :])), next_offset
    return None, next_offset or 0


def _problem(batch: StoredBatch, next_offset: int) -> str | None:
    if not isinstance(batch, Batch):
        return "a message of an old format"
    if batch.base_offset != next_offset or batch.last_offset < batch.base_offset:
        return f"a batch of offsets {batch.base_offset} to {batch.last_offset}"
    return None if batch.crc_matches() else "a batch whose CRC does not match"


def _goes_on(disk: Disk, damage: Damage) -> bool:
    """Whether there are whole batches behind the damage."""
    return any(_has_batch(disk, path, 0, damage) for path in damage.followers) or _has_batch(
        disk, damage.path, damage.position + 1, damage
    )


def _has_batch(disk: Disk, path: str, position: int, damage: Damage) -> bool:
    file: File = disk.open(path, Access.READ)
    data = memoryview(file.read(position, file.size() - position))
    return any(
        batch.base_offset >= damage.next_offset and batch.last_offset >= batch.base_offset and batch.crc_matches()
        for batch in _candidates(data)
    )


def _candidates(data: memoryview) -> Iterator[Batch]:
    """Possible batches: places where a header would have magic 2 and a length that fits."""
    raw = bytes(data)
    found = raw.find(b"\x02", _MAGIC_POSITION)
    while found >= 0:
        start = found - _MAGIC_POSITION
        size = int.from_bytes(raw[start + 8 : start + 12], signed=True) + _OVERHEAD_BYTES
        if _HEADER_BYTES <= size <= len(raw) - start:
            with contextlib.suppress(DecodeError):
                yield Batch(data[start : start + size])
        found = raw.find(b"\x02", found + 1)
