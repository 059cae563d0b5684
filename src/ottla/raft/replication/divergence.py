"""Whether a follower's log is a prefix of the leader's, and where to cut it if not.

A follower asks from its end and names the epoch of its last record. The leader knows where each epoch ends in its own
log. With the leader's epochs 1 from 0, 3 from 10 and its end at 20:

    fetch 12, last epoch 3 → valid
    fetch 12, last epoch 2 → diverging, 10@1: the leader has no epoch 2, and epoch 1 ends at 10
    fetch 25, last epoch 3 → diverging, 20@3
    fetch 4, log starts at 8 → snapshot: those records are gone
"""

from enum import Enum

from ottla.base.frozen import frozen
from ottla.raft.identity import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch
from ottla.raft.ports import LogPort, SnapshotPort


class FetchKind(Enum):
    """The answer to a follower's position."""

    VALID = "records"
    DIVERGING = "where to truncate"
    SNAPSHOT = "a snapshot to load"


@frozen
class FetchPosition:
    """The verdict on a position; `end` is where the logs part, or the snapshot."""

    kind: FetchKind
    end: OffsetAndEpoch


def judge_position(log: LogPort, snapshots: SnapshotPort, position: OffsetAndEpoch) -> FetchPosition:
    """The leader's verdict on a follower's position."""
    latest = snapshots.latest_id
    if position.offset == 0 and latest is not None and latest != BOOTSTRAP_SNAPSHOT_ID:
        # An empty follower is faster with the snapshot, even while the log still has everything.
        return FetchPosition(FetchKind.SNAPSHOT, latest)
    return validate_position(log, snapshots, position)


def validate_position(log: LogPort, snapshots: SnapshotPort, position: OffsetAndEpoch) -> FetchPosition:
    """Whether the log contains a position and its epoch."""
    if position.offset == 0 and log.start_offset == 0:
        return FetchPosition(FetchKind.VALID, position)
    earliest, latest = snapshots.earliest_id, snapshots.latest_id
    if earliest is not None and latest is not None:
        is_gone = position.offset < log.start_offset or position.epoch < earliest.epoch
        is_other_start = position.offset == log.start_offset and position.epoch != earliest.epoch
        if is_gone or is_other_start:
            return FetchPosition(FetchKind.SNAPSHOT, latest)
    end = end_offset_for_epoch(log, snapshots, position.epoch)
    if end.epoch != position.epoch or end.offset < position.offset:
        return FetchPosition(FetchKind.DIVERGING, end)
    return FetchPosition(FetchKind.VALID, position)


def end_offset_for_epoch(log: LogPort, snapshots: SnapshotPort, epoch: int) -> OffsetAndEpoch:
    """The end in the log of an epoch, or of the last one before it.

    An epoch that lies before the log's first is answered by the log with itself and the log's start; the snapshot
    that ends there knows the true epoch.
    """
    end = log.end_offset_for_epoch(epoch)
    earliest = snapshots.earliest_id
    if earliest is not None and end == OffsetAndEpoch(offset=earliest.offset, epoch=epoch):
        return earliest
    return end


def truncation_offset(log: LogPort, snapshots: SnapshotPort, diverging: OffsetAndEpoch) -> int:
    """The offset to which a follower truncates when the leader reports that they diverge at `diverging`.

    With our epochs 1 from 0, 2 from 15, 3 from 25: diverging 20@2 → 20, diverging 10@1 → 10, diverging 30@2 → 25,
    since our epoch 2 ends there.
    """
    if diverging.epoch == 0:
        return min(diverging.offset, log.end_offset)
    ours = end_offset_for_epoch(log, snapshots, diverging.epoch)
    return min(ours.offset, diverging.offset) if ours.epoch == diverging.epoch else ours.offset
