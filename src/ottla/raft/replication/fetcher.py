"""Fetch (key 1) at a follower: ask the leader from our end, and do what it says.

A voter, or who may become one, asks only once everything it has is flushed, since its fetch offset promises that. When
the leader does not answer, or there is none, the bootstrap servers are asked: any of them knows who leads.
"""

from ottla.protocol.errors import DecodeError, ErrorCode
from ottla.protocol.messages import fetch
from ottla.protocol.records.batch import batches
from ottla.raft.context import RaftContext
from ottla.raft.endpoint import Endpoints
from ottla.raft.errors import RaftInvariantError
from ottla.raft.identity import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID, OffsetAndEpoch
from ottla.raft.leadership import LeaderClaim, Leadership
from ottla.raft.log.payload import received_bytes
from ottla.raft.replication.divergence import truncation_offset
from ottla.raft.roles.follower import Follower
from ottla.raft.snapshot.downloader import Downloader


class Fetcher:
    """Pulls the log."""

    def __init__(self, context: RaftContext, leadership: Leadership, downloader: Downloader) -> None:
        self._context = context
        self._leadership = leadership
        self._downloader = downloader

    def poll_follower(self, follower: Follower, now_ms: int) -> int:
        """Asks the leader, or others if it does not answer; when to look again."""
        context, connections = self._context, self._context.connections
        leader = follower.leader_node(context.listener_name)
        if connections.has_timed_out(leader, now_ms):
            connections.reset(leader)
            return self.poll_bootstrap(now_ms)
        if connections.is_backing_off(leader, now_ms):
            return self.poll_bootstrap(now_ms)
        if not connections.is_any_in_flight(now_ms) and self._may_fetch():
            request = self._downloader.request(follower) or self._request()
            context.send(leader, request, now_ms)
        return connections.deadline_ms(now_ms)

    def poll_bootstrap(self, now_ms: int) -> int:
        """Asks any bootstrap server; when to look again."""
        node = self._context.connections.ready_bootstrap_server(now_ms)
        if node is not None and self._may_fetch():
            self._context.send(node, self._request(), now_ms)
        return self._context.connections.deadline_ms(now_ms)

    def handle_response(self, response: fetch.FetchResponse, now_ms: int) -> bool:
        """Takes records, truncates, or starts to load a snapshot; whether the node answered sensibly."""
        data = _only_partition(response)
        if response.error_code != ErrorCode.NONE or data is None:
            return False
        leader_id = data.current_leader.leader_id
        endpoints = Endpoints.of_node(self._context.listener_name, leader_id, response.node_endpoints)
        claim = LeaderClaim.of(data.current_leader.leader_epoch, leader_id, endpoints)
        error = ErrorCode(data.error_code)
        settled = self._leadership.settle_response(error, claim, now_ms)
        if settled is not None:
            return settled
        follower = self._context.quorum.role
        if error != ErrorCode.NONE or not isinstance(follower, Follower):
            return False
        if not self._take(follower, data):
            return False
        follower.fetched(now_ms)
        return True

    def _take(self, follower: Follower, data: fetch.PartitionData) -> bool:
        diverging, snapshot = data.diverging_epoch, data.snapshot_id
        if diverging.epoch >= 0:
            self._truncate(follower, OffsetAndEpoch(offset=diverging.end_offset, epoch=diverging.epoch))
        elif snapshot.epoch >= 0 or snapshot.end_offset >= 0:
            if snapshot.epoch < 0 or snapshot.end_offset < 0:
                return False
            self._downloader.begin(follower, OffsetAndEpoch(offset=snapshot.end_offset, epoch=snapshot.epoch))
        else:
            self._append(follower, received_bytes(data.records))
            if data.high_watermark >= 0:
                self.advance_high_watermark(follower, data.high_watermark)
        return True

    def advance_high_watermark(self, follower: Follower, high_watermark: int) -> None:
        """Takes the leader's high watermark as far as our log reaches."""
        reached = min(high_watermark, self._context.log.end_offset)
        if follower.advance_high_watermark(reached):
            self._context.listener.advance(reached)

    def _truncate(self, follower: Follower, diverging: OffsetAndEpoch) -> None:
        context = self._context
        offset = truncation_offset(context.log, context.snapshots, diverging)
        if follower.high_watermark is not None and offset < follower.high_watermark:
            raise RaftInvariantError(
                f"the leader wants us to truncate to {offset}, below the high watermark {follower.high_watermark}"
            )
        context.log.truncate_to(offset)
        context.voters.truncate_from(context.log.end_offset)

    def _append(self, follower: Follower, records: bytes) -> None:
        context = self._context
        good = _good_bytes(records, context.log.end_offset, follower.epoch)
        if good == 0:
            return
        context.log.append(records[:good])
        context.voters.update()
        if self._must_flush:
            context.flush()

    @property
    def _must_flush(self) -> bool:
        return self._context.local.can_become_voter or self._context.quorum.is_voter

    def _may_fetch(self) -> bool:
        if not self._must_flush or self._context.is_flushed:
            return True
        self._context.flush()
        return False

    def _request(self) -> fetch.FetchRequest:
        context = self._context
        high_watermark = context.quorum.high_watermark
        partition = fetch.FetchPartition(
            partition=METADATA_PARTITION,
            current_leader_epoch=context.quorum.epoch,
            fetch_offset=context.log.end_offset,
            last_fetched_epoch=context.log.last_epoch,
            replica_directory_id=context.local.key.directory_id,
            high_watermark=-1 if high_watermark is None else high_watermark,
        )
        topic = fetch.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        return fetch.FetchRequest(
            cluster_id=context.setup.cluster_id,
            replica_state=fetch.ReplicaState(replica_id=context.local.id),
            max_wait_ms=context.config.fetch_max_wait_ms,
            max_bytes=context.config.fetch_max_bytes,
            topics=[topic],
        )


def _only_partition(response: fetch.FetchResponse) -> fetch.PartitionData | None:
    topics = response.responses
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition_index == METADATA_PARTITION else None


def _good_bytes(records: bytes, end_offset: int, epoch: int) -> int:
    """The number of bytes that are whole batches and continue our log; a damaged rest is fetched again."""
    good = 0
    try:
        for batch in batches(records):
            if batch.base_offset != end_offset or batch.partition_leader_epoch > epoch or not batch.crc_matches():
                break
            good, end_offset = batch.end, batch.next_offset
    except DecodeError:
        return good
    return good
