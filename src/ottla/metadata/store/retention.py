"""Which snapshots are old enough to go, and the log before the next one with them.

The newest always stays. With snapshots 10, 20, 30 and the first two too old, the answer is 30: the log begins there.
"""

from itertools import pairwise

from ottla.metadata.store.metadata_log import MetadataLog
from ottla.metadata.store.metadata_log_config import MetadataLogConfig
from ottla.metadata.store.snapshot_directory import SnapshotDirectory
from ottla.raft.identity import OffsetAndEpoch


def oldest_snapshot_to_keep(
    config: MetadataLogConfig, log: MetadataLog, snapshots: SnapshotDirectory, now_ms: int
) -> OffsetAndEpoch | None:
    """The snapshot before which everything may go, for `RaftCore.delete_before_snapshot`; None if nothing may."""
    ids = snapshots.ids
    total_bytes = log.size_bytes + sum(snapshots.size(known) or 0 for known in ids)
    keep = None
    for old, following in pairwise(ids):
        too_large = 0 <= config.retention_bytes < total_bytes
        too_old = 0 <= config.retention_ms < now_ms - snapshots.timestamp_ms(old)
        if not too_large and not too_old:
            break
        total_bytes -= snapshots.size(old) or 0
        keep = following
    return keep
