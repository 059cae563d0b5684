"""Fetch (key 1) at the leader: records, where logs part, or a snapshot to load instead.

A fetch offset is also a receipt: the follower holds everything before it durably, which is what moves the high
watermark. A fetch that finds nothing new is parked until there are records, the high watermark moves, its time is up or
the leadership ends.
"""

import heapq

from ottla.base.frozen import frozen
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import fetch
from ottla.raft.config import NEVER_MS
from ottla.raft.context import RaftContext
from ottla.raft.event import RequestReceived
from ottla.raft.identity import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    NO_NODE,
    OffsetAndEpoch,
    ReplicaKey,
)
from ottla.raft.replication.commit import Commit
from ottla.raft.replication.divergence import FetchKind, FetchPosition, judge_position
from ottla.raft.request import is_our_cluster, leader_node_endpoints, leader_request_error
from ottla.raft.roles.leader import Leader

_ENDPOINTS_SINCE = 17


@frozen
class _ParkedFetch:
    event: RequestReceived
    request: fetch.FetchRequest
    answer_when_late: fetch.FetchResponse


class FetchService:
    """Answers fetches."""

    def __init__(self, context: RaftContext, commit: Commit) -> None:
        self._context = context
        self._commit = commit
        self._parked: dict[int, _ParkedFetch] = {}
        self._deadlines: list[tuple[int, int]] = []
        self._released_at: tuple[int, int | None] = (-1, None)

    def handle(self, event: RequestReceived, request: fetch.FetchRequest, now_ms: int) -> None:
        """Answers a fetch or parks it."""
        if not is_our_cluster(self._context, request.cluster_id):
            self._respond(event, fetch.FetchResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID))
            return
        partition = _only_partition(request)
        if partition is None:
            self._respond(event, fetch.FetchResponse(error_code=ErrorCode.INVALID_REQUEST))
            return
        response = self._answer(event, request, partition, now_ms)
        if request.max_wait_ms <= 0 or _is_worth_sending(response, partition):
            self._respond(event, response)
            return
        self._parked[event.request_id] = _ParkedFetch(event, request, response)
        heapq.heappush(self._deadlines, (now_ms + request.max_wait_ms, event.request_id))

    def poll(self, now_ms: int) -> int:
        """Answers parked fetches that need not wait any longer; when to look again."""
        leader = self._context.quorum.role
        if not isinstance(leader, Leader):
            if self._parked:
                self._send_away()
            return NEVER_MS
        while (news := (self._context.log.end_offset, leader.high_watermark)) != self._released_at:
            self._released_at = news
            parked, self._parked = list(self._parked.values()), {}
            for waiting in parked:
                partition = waiting.request.topics[0].partitions[0]
                self._respond(waiting.event, self._answer(waiting.event, waiting.request, partition, now_ms))
        return self._expire(now_ms)

    def _expire(self, now_ms: int) -> int:
        while self._deadlines and (self._deadlines[0][0] <= now_ms or self._deadlines[0][1] not in self._parked):
            waiting = self._parked.pop(heapq.heappop(self._deadlines)[1], None)
            if waiting is not None:
                self._respond(waiting.event, waiting.answer_when_late)
        return self._deadlines[0][0] if self._deadlines else NEVER_MS

    def _send_away(self) -> None:
        parked, self._parked = list(self._parked.values()), {}
        self._deadlines.clear()
        for waiting in parked:
            self._respond(waiting.event, self._empty(waiting.event, ErrorCode.NOT_LEADER_OR_FOLLOWER))

    def _answer(
        self, event: RequestReceived, request: fetch.FetchRequest, partition: fetch.FetchPartition, now_ms: int
    ) -> fetch.FetchResponse:
        error = self._request_error(request, partition)
        leader = self._context.quorum.role
        if error != ErrorCode.NONE or not isinstance(leader, Leader):
            return self._empty(event, error)
        replica = ReplicaKey(_replica_id(request), partition.replica_directory_id)
        if replica.id == leader.local.id:
            return self._empty(event, ErrorCode.UNKNOWN_SERVER_ERROR)
        position = OffsetAndEpoch(offset=partition.fetch_offset, epoch=partition.last_fetched_epoch)
        verdict = judge_position(self._context.log, self._context.snapshots, position)
        records = b""
        if verdict.kind is FetchKind.VALID:
            records = self._context.log.read(position.offset, request.max_bytes)
            if leader.replica_fetched(replica, position.offset, now_ms):
                self._commit.high_watermark_moved(leader)
        return self._response(event, ErrorCode.NONE, verdict, records)

    def _request_error(self, request: fetch.FetchRequest, partition: fetch.FetchPartition) -> ErrorCode:
        is_valid = (
            request.max_wait_ms >= 0
            and partition.fetch_offset >= 0
            and 0 <= partition.last_fetched_epoch <= partition.current_leader_epoch
        )
        if not is_valid:
            return ErrorCode.INVALID_REQUEST
        return leader_request_error(self._context, partition.current_leader_epoch)

    def _empty(self, event: RequestReceived, error: ErrorCode) -> fetch.FetchResponse:
        return self._response(event, error, None, b"")

    def _response(
        self, event: RequestReceived, error: ErrorCode, verdict: FetchPosition | None, records: bytes
    ) -> fetch.FetchResponse:
        role = self._context.quorum.role
        leader_id = NO_NODE if role.leader_id is None else role.leader_id
        high_watermark = role.high_watermark if verdict is not None else None
        data = fetch.PartitionData(
            partition_index=METADATA_PARTITION,
            error_code=error,
            high_watermark=-1 if high_watermark is None else high_watermark,
            log_start_offset=self._context.log.start_offset,
            current_leader=fetch.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=role.epoch),
            records=records,
        )
        if verdict is not None and verdict.kind is FetchKind.DIVERGING:
            data.diverging_epoch = fetch.EpochEndOffset(epoch=verdict.end.epoch, end_offset=verdict.end.offset)
        elif verdict is not None and verdict.kind is FetchKind.SNAPSHOT:
            data.snapshot_id = fetch.SnapshotId(epoch=verdict.end.epoch, end_offset=verdict.end.offset)
        topic = fetch.FetchableTopicResponse(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[data])
        endpoints = leader_node_endpoints(self._context, event, fetch.NodeEndpoint, since_version=_ENDPOINTS_SINCE)
        return fetch.FetchResponse(responses=[topic], node_endpoints=endpoints)

    def _respond(self, event: RequestReceived, response: fetch.FetchResponse) -> None:
        self._context.respond(event.request_id, response)


def _only_partition(request: fetch.FetchRequest) -> fetch.FetchPartition | None:
    topics = request.topics
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return None
    partition = topics[0].partitions[0]
    return partition if partition.partition == METADATA_PARTITION else None


def _replica_id(request: fetch.FetchRequest) -> int:
    return request.replica_id if request.replica_id != NO_NODE else request.replica_state.replica_id


def _is_worth_sending(response: fetch.FetchResponse, request: fetch.FetchPartition) -> bool:
    """Whether an answer tells anything: an error, records, where to go, or a high watermark that is news (KIP-1166)."""
    data = response.responses[0].partitions[0]
    return bool(
        data.error_code
        or data.records
        or data.diverging_epoch.epoch >= 0
        or data.snapshot_id.epoch >= 0
        or data.high_watermark > request.high_watermark
    )
