"""The names of snapshot files: `<end offset, 20 digits>-<epoch, 10 digits>.checkpoint`.

While one is written it ends in `.checkpoint.part`, and once it is not needed in `.checkpoint.deleted`.
"""

import re
from typing import Final, NamedTuple

from ottla.raft.identity import OffsetAndEpoch

WHOLE: Final = ".checkpoint"
PART: Final = ".checkpoint.part"
DELETED: Final = ".checkpoint.deleted"

# Apache Kafka puts some random digits between the epoch and `.checkpoint.part`.
_NAME: Final = re.compile(r"(\d{20})-(\d{10})(?:-\d*)?(\.checkpoint(?:\.part|\.deleted)?)", re.ASCII)


class SnapshotName(NamedTuple):
    """The meaning of a file's name."""

    snapshot_id: OffsetAndEpoch
    suffix: str


def name_of(snapshot_id: OffsetAndEpoch, suffix: str = WHOLE) -> str:
    """A file's name.

    >>> name_of(OffsetAndEpoch(offset=191, epoch=2))
    '00000000000000000191-0000000002.checkpoint'
    """
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{suffix}"


def parse(name: str) -> SnapshotName | None:
    """The meaning of the name; None if it is not that of a snapshot.

    >>> parse("00000000000000000191-0000000002.checkpoint.part").suffix
    '.checkpoint.part'
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return SnapshotName(OffsetAndEpoch(offset=int(found[1]), epoch=int(found[2])), found[3])
