"""FetchSnapshot (key 59) at a follower: a snapshot piece by piece, and then the log again from where it ends."""

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch_snapshot as message
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, OffsetAndEpoch
from ottla.raft.leadership import LeaderClaim, Leadership
from ottla.raft.log.payload import received_bytes
from ottla.raft.roles.follower import Follower, SnapshotDownload


class Downloader:
    """Loads one snapshot at a time."""

    def __init__(self, context: RaftContext, leadership: Leadership) -> None:
        self._context = context
        self._leadership = leadership

    def begin(self, follower: Follower, snapshot_id: OffsetAndEpoch) -> None:
        """The leader has no log for us but a snapshot; one that we have already is just put to use."""
        if self._context.snapshots.size(snapshot_id) is not None:
            follower.set_download(None)
            self._restart_log(follower, snapshot_id)
            return
        writer = self._context.snapshots.part_writer(snapshot_id)
        follower.set_download(SnapshotDownload(snapshot_id, writer))

    def request(self, follower: Follower) -> message.FetchSnapshotRequest | None:
        """The request for the next piece; None if nothing is being loaded."""
        download, context = follower.download, self._context
        if download is None:
            return None
        partition = message.RequestPartitionSnapshot(
            partition=METADATA_PARTITION,
            current_leader_epoch=context.quorum.epoch,
            snapshot_id=message.SnapshotId(end_offset=download.snapshot_id.offset, epoch=download.snapshot_id.epoch),
            position=download.writer.size,
            replica_directory_id=context.local.key.directory_id,
        )
        topic = message.RequestTopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
        return message.FetchSnapshotRequest(
            cluster_id=context.setup.cluster_id,
            replica_id=context.local.id,
            max_bytes=context.config.fetch_snapshot_max_bytes,
            topics=[topic],
        )

    def handle_response(self, response: message.FetchSnapshotResponse, now_ms: int) -> bool:
        """Takes a piece; whether the leader answered sensibly."""
        partition = _only_partition(response)
        if response.error_code != ErrorCode.NONE or partition is None:
            return False
        leader = partition.current_leader
        endpoints = Endpoints.of_node(self._context.listener_name, leader.leader_id, response.node_endpoints)
        error = ErrorCode(partition.error_code)
        claim = LeaderClaim.of(leader.leader_epoch, leader.leader_id, endpoints)
        settled = self._leadership.settle_response(error, claim, now_ms)
        if settled is not None:
            return settled
        follower = self._context.quorum.role
        if not isinstance(follower, Follower):
            return False
        if error == ErrorCode.SNAPSHOT_NOT_FOUND or partition.snapshot_id.end_offset < 0:
            # The leader has a newer one by now: the next fetch names it.
            follower.set_download(None)
            follower.fetched(now_ms)
            return True
        if error != ErrorCode.NONE:
            return False
        follower.fetched(now_ms)
        return self._take(follower, partition)

    def _take(self, follower: Follower, partition: message.ResponsePartitionSnapshot) -> bool:
        download = follower.download
        snapshot_id = OffsetAndEpoch(offset=partition.snapshot_id.end_offset, epoch=partition.snapshot_id.epoch)
        if download is None or download.snapshot_id != snapshot_id or download.writer.size != partition.position:
            return False
        download.writer.append(received_bytes(partition.unaligned_records))
        if download.writer.size >= partition.size:
            download.writer.freeze()
            follower.download = None
            self._restart_log(follower, snapshot_id)
        return True

    def _restart_log(self, follower: Follower, snapshot_id: OffsetAndEpoch) -> None:
        """Everything in a snapshot is committed, so the log may begin behind it.

        Log [0, 40) in epoch 1, snapshot 100@3 → log [100, 100), its next record's predecessor in epoch 3. What the log
        had was either in the snapshot or never committed, even if it ends in a later epoch than the snapshot.
        """
        context = self._context
        if snapshot_id.offset < (follower.high_watermark or 0):
            return
        context.snapshots.restart_log_at(snapshot_id)
        context.voters.restart()
        if follower.advance_high_watermark(snapshot_id.offset):
            context.listener.advance(snapshot_id.offset)


def _only_partition(response: message.FetchSnapshotResponse) -> message.ResponsePartitionSnapshot | None:
    topics = response.topics
    if len(topics) != 1 or topics[0].name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.index == METADATA_PARTITION else None
