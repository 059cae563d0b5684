"""The file `transaction-index-checkpoint`: what a log's transaction indexes held when they were brought to the disk.

A segment without aborted transactions has no index, so a lost file is not missed, nor are entries that were cut off:
Apache Kafka then serves aborted records as committed. This file is ours, and Kafka leaves it alone. Lines `0`
(version), the count, then `<base offset of the segment> <entries> <CRC-32C of them>` each; segments without entries are
not listed.

It is written when segments are flushed that are no longer appended to, and at a clean stop. An index may have grown
since, so only its beginning is compared. Where the file says nothing, because Apache Kafka wrote the segment, its
index is believed, as it is there: to look for markers means to read the segment, and nobody may wait for that.
"""

import logging
from collections.abc import Iterable
from typing import Final

from ottla.storage.disk.atomic import read_whole, write_atomically
from ottla.storage.index.transaction_index import IndexDigest
from ottla.storage.log.state import LogState
from ottla.storage.segment.segment import Segment

FILE_NAME: Final = "transaction-index-checkpoint"
_VERSION: Final = "0"

_log = logging.getLogger(__name__)


def digest_of(log: LogState, segment: Segment) -> IndexDigest | None:
    """The recorded digest of the segment's index; None if there is none."""
    return _known(log).get(segment.base_offset)


def note(log: LogState, segments: Iterable[Segment]) -> None:
    """Writes down what the indexes of segments hold that are on the disk, if it is anything new."""
    before = _known(log)
    now = {base: before[base] for base in (segment.base_offset for segment in log.segments) if base in before}
    for segment in segments:
        if segment.transaction_index.is_complete:
            digest = segment.transaction_index.digest()
            if digest.entries:
                now[segment.base_offset] = digest
            else:
                now.pop(segment.base_offset, None)
    if now != before:
        lines = [_VERSION, str(len(now)), *(f"{base} {digest.entries} {digest.crc}" for base, digest in now.items())]
        write_atomically(log.disk, f"{log.directory}/{FILE_NAME}", ("\n".join(lines) + "\n").encode())
        log.index_digests = now


def forget(log: LogState, segments: Iterable[Segment]) -> None:
    """Cleaned segments take the place of these, and have indexes of their own."""
    gone = {segment.base_offset for segment in segments}
    log.index_digests = {base: digest for base, digest in _known(log).items() if base not in gone}


def _known(log: LogState) -> dict[int, IndexDigest]:
    if log.index_digests is None:
        path = f"{log.directory}/{FILE_NAME}"
        log.index_digests = _parse(read_whole(log.disk, path) or b"", path)
    return log.index_digests


def _parse(data: bytes, path: str) -> dict[int, IndexDigest]:
    """The file's lines; noise is as good as no file."""
    if not data:
        return {}
    try:
        version, count, *lines = data.decode("ascii").splitlines()
        fields = [tuple(map(int, line.split(" "))) for line in lines]
        if version != _VERSION or int(count) != len(fields):
            raise ValueError(f"version {version}, {len(fields)} lines where {count} were announced")
        return {base: IndexDigest(entries, crc) for base, entries, crc in fields}
    except ValueError as error:
        _log.warning("%s: not a checkpoint of transaction indexes, which are believed: %s", path, error)
        return {}
