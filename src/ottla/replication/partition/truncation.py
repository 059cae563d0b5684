"""The offset to which a follower truncates when its leader reports diverging logs.

The leader answers a fetch with the largest epoch that it has at or below the follower's last one, and where that epoch
ends. Follower: epochs 0 from 0, 1 from 40, 2 from 50, log end 80; leader: 0 from 0, 1 from 40, 3 from 45.

    follower fetches at 80, last epoch 2  →  leader: diverging (1, 45)
    the follower's epoch 1 ends at 50, the leader's at 45  →  truncate to 45, where both are the same

If the follower lacks the epoch that the leader names, it goes back to the end of the largest one below it, and asks
again from there.
"""

from ottla.replication.partition.replica_log import ReplicaLog
from ottla.storage.leader_epoch.checkpoint import EpochEntry


def truncation_offset(log: ReplicaLog, diverging: EpochEntry) -> int:
    """The offset at which the follower's log has to end."""
    log_end_offset = log.log_end_offset
    if diverging.start_offset < 0:
        # The leader knows nothing of that epoch: what is replicated is the same in any case.
        return min(log.high_watermark, log_end_offset)
    if diverging.epoch < 0:
        return min(diverging.start_offset, log_end_offset)
    own = log.end_offset_for_epoch(diverging.epoch)
    if own.start_offset < 0:
        return min(diverging.start_offset, log_end_offset)
    if own.epoch != diverging.epoch:
        return min(own.start_offset, log_end_offset)
    return min(own.start_offset, diverging.start_offset, log_end_offset)
