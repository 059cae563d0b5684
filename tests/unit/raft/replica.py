"""One quorum member under test: its disk, its clock, and what it wanted done."""

from collections.abc import Iterable
from typing import TypeVar

from ottla.base.ids import Uuid
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import begin_quorum_epoch, end_quorum_epoch, fetch, fetch_snapshot, vote
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.raft.config import QuorumConfig
from ottla.raft.context import RaftPorts, RaftSetup
from ottla.raft.core import RaftCore
from ottla.raft.effect import (
    ApplyCommitted,
    Effect,
    FlushLog,
    LoadSnapshot,
    SendRequest,
    SendResponse,
)
from ottla.raft.endpoint import Address, Endpoints
from ottla.raft.event import (
    CommitsApplied,
    Event,
    LogFlushed,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    TimeElapsed,
)
from ottla.raft.identity import (
    BOOTSTRAP_SNAPSHOT_ID,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    LocalReplica,
    Node,
    ReplicaKey,
)
from ottla.raft.log.memory_log import MemoryLog, MemoryQuorumState, MemorySnapshots
from ottla.raft.roles.role import RoleKind
from ottla.raft.snapshot.writer import bootstrap_snapshot
from ottla.raft.voters.voter_set import NO_VOTERS, VoterNode, VoterSet

CLUSTER_ID = "test-cluster-000000000"
LISTENER = "CONTROLLER"
START_MS = 1_700_000_000_000

Wanted = TypeVar("Wanted")


class LowestDice:
    """Always the smallest number: timeouts are as short as they can be."""

    def randrange(self, stop: int, /) -> int:
        return 0


def directory(node_id: int) -> Uuid:
    return Uuid(bytes([node_id]) * 16)


def key(node_id: int) -> ReplicaKey:
    return ReplicaKey(node_id, directory(node_id))


def endpoints(node_id: int) -> Endpoints:
    return Endpoints({LISTENER: Address(f"c{node_id}", 9093)})


def voter_set(*node_ids: int) -> VoterSet:
    return VoterSet.of(VoterNode(key(node_id), endpoints(node_id)) for node_id in node_ids)


def batch(base_offset: int, epoch: int, *values: bytes) -> bytes:
    records = [(base_offset + delta, START_MS, None, value, ()) for delta, value in enumerate(values)]
    return bytes(write_batch(records, BatchOptions(base_offset=base_offset, partition_leader_epoch=epoch)))


class Replica:
    """Drives a `RaftCore`; flushes and applies at once unless told otherwise."""

    def __init__(
        self,
        node_id: int = 1,
        voters: Iterable[int] = (1, 2, 3),
        *,
        static: bool = False,
        config: QuorumConfig | None = None,
        can_become_voter: bool = True,
    ) -> None:
        self.voters = tuple(voters)
        self.log = MemoryLog()
        self.snapshots = MemorySnapshots(self.log)
        self.state = MemoryQuorumState()
        self.now_ms = START_MS
        self.flushes = True
        self.sent: list[SendRequest] = []
        self.answers: dict[int, Response] = {}
        self.told: list[Effect] = []
        self._next_request_id = 0
        if not static:
            data = bootstrap_snapshot(1, voter_set(*self.voters), (), START_MS)
            self.snapshots.store(BOOTSTRAP_SNAPSHOT_ID, data)
        addresses = {voter: Address(f"c{voter}", 9093) for voter in self.voters}
        self.setup = RaftSetup(
            cluster_id=CLUSTER_ID,
            local=LocalReplica(key(node_id), endpoints(node_id), can_become_voter=can_become_voter),
            listener_name=LISTENER,
            config=config or QuorumConfig(append_linger_ms=0),
            static_voters=VoterSet.of_static(LISTENER, addresses) if static else NO_VOTERS,
            bootstrap_servers=[Node(-1 - voter, f"c{voter}", 9093) for voter in self.voters if voter != node_id],
        )
        self.core = self._new_core()

    def _new_core(self) -> RaftCore:
        return RaftCore(self.setup, RaftPorts(self.log, self.snapshots, self.state, LowestDice()))

    def start(self) -> "Replica":
        self._carry_out(self.core.start(self.now_ms))
        return self

    def restart(self) -> "Replica":
        """Comes back with what is on disk."""
        self.sent.clear()
        self.core = self._new_core()
        return self.start()

    @property
    def kind(self) -> RoleKind:
        return self.core.role.kind

    @property
    def epoch(self) -> int:
        return self.core.role.epoch

    def pass_time(self, duration_ms: int) -> None:
        """Lets time pass, waking the core whenever it asks."""
        end_ms = self.now_ms + duration_ms
        while self.core.deadline_ms <= end_ms:
            self.now_ms = max(self.core.deadline_ms, self.now_ms)
            self.handle(TimeElapsed())
        self.now_ms = end_ms
        self.handle(TimeElapsed())

    def handle(self, event: Event) -> None:
        self._carry_out(self.core.handle(event, self.now_ms))

    def receive(self, request: Request, *, api_version: int | None = None) -> int:
        """Hands in a request; the id that its answer will have."""
        self._next_request_id += 1
        version = type(request).valid_versions.highest if api_version is None else api_version
        self.handle(RequestReceived(self._next_request_id, request, version, LISTENER))
        return self._next_request_id

    def ask(self, request: Request, *, api_version: int | None = None) -> Response:
        """Hands in a request that is answered at once."""
        return self.answers[self.receive(request, api_version=api_version)]

    def take_sent(self, kind: type[Wanted]) -> list[tuple[SendRequest, Wanted]]:
        """Takes the requests of one kind that went out."""
        taken = [(sent, sent.request) for sent in self.sent if isinstance(sent.request, kind)]
        self.sent = [sent for sent in self.sent if not isinstance(sent.request, kind)]
        return taken

    def take_one(self, kind: type[Wanted]) -> tuple[SendRequest, Wanted]:
        [taken] = self.take_sent(kind)
        return taken

    def respond(self, sent: SendRequest, response: Response) -> None:
        self.handle(ResponseReceived(sent.correlation_id, sent.destination.id, response))

    def fail(self, sent: SendRequest, error: ErrorCode = ErrorCode.NETWORK_EXCEPTION) -> None:
        self.handle(RequestFailed(sent.correlation_id, sent.destination.id, error))

    def append(self, *values: bytes) -> int:
        """Appends as leader, and lets it be written."""
        offset = self.core.append(self.epoch, values, self.now_ms)
        self.handle(TimeElapsed())
        return offset

    def flush(self) -> None:
        self.log.flush()
        self.handle(LogFlushed())

    def become_leader(self) -> "Replica":
        """Is elected by all voters and announces itself."""
        while self.kind is not RoleKind.LEADER:
            self.pass_time(100)
            for sent, request in self.take_sent(vote.VoteRequest):
                epoch = request.topics[0].partitions[0].replica_epoch
                self.respond(sent, vote_response(epoch, granted=True))
        return self

    def become_follower(self, leader_id: int, epoch: int) -> "Replica":
        """Hears of a leader; what was asked before that is forgotten."""
        self.sent.clear()
        self.ask(begin_request(leader_id, epoch))
        return self

    def _carry_out(self, effects: list[Effect]) -> None:
        follow_ups: list[Event] = []
        for effect in effects:
            if isinstance(effect, SendRequest):
                self.sent.append(effect)
            elif isinstance(effect, SendResponse):
                self.answers[effect.request_id] = effect.response
            elif isinstance(effect, FlushLog):
                if self.flushes:
                    self.log.flush()
                    follow_ups.append(LogFlushed())
            else:
                self.told.append(effect)
                if isinstance(effect, ApplyCommitted | LoadSnapshot):
                    follow_ups.append(CommitsApplied())
        for event in follow_ups:
            self.handle(event)


def vote_request(
    candidate: int, epoch: int, *, end: tuple[int, int] = (0, 0), voter: int = 1, pre_vote: bool = False
) -> vote.VoteRequest:
    """A candidate whose log ends at offset, epoch `end`."""
    partition = vote.RequestPartitionData(
        partition_index=0,
        replica_epoch=epoch,
        replica_id=candidate,
        replica_directory_id=directory(candidate),
        voter_directory_id=directory(voter),
        last_offset=end[0],
        last_offset_epoch=end[1],
        pre_vote=pre_vote,
    )
    topic = vote.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return vote.VoteRequest(cluster_id=CLUSTER_ID, voter_id=voter, topics=[topic])


def vote_response(
    epoch: int, *, granted: bool, leader_id: int = -1, error: ErrorCode = ErrorCode.NONE
) -> vote.VoteResponse:
    partition = vote.ResponsePartitionData(
        partition_index=0, error_code=error, leader_id=leader_id, leader_epoch=epoch, vote_granted=granted
    )
    return vote.VoteResponse(topics=[vote.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


def begin_request(leader_id: int, epoch: int, *, voter: int = 1) -> begin_quorum_epoch.BeginQuorumEpochRequest:
    partition = begin_quorum_epoch.RequestPartitionData(
        partition_index=0, leader_id=leader_id, leader_epoch=epoch, voter_directory_id=directory(voter)
    )
    return begin_quorum_epoch.BeginQuorumEpochRequest(
        cluster_id=CLUSTER_ID,
        voter_id=voter,
        topics=[begin_quorum_epoch.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=endpoints(leader_id).listeners(begin_quorum_epoch.LeaderEndpoint),
    )


def end_request(leader_id: int, epoch: int, *candidates: int) -> end_quorum_epoch.EndQuorumEpochRequest:
    partition = end_quorum_epoch.RequestPartitionData(
        partition_index=0,
        leader_id=leader_id,
        leader_epoch=epoch,
        preferred_candidates=[
            end_quorum_epoch.ReplicaInfo(candidate_id=node_id, candidate_directory_id=directory(node_id))
            for node_id in candidates
        ],
    )
    topic = end_quorum_epoch.RequestTopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return end_quorum_epoch.EndQuorumEpochRequest(cluster_id=CLUSTER_ID, topics=[topic])


def fetch_request(
    replica: int, epoch: int, offset: int, last_epoch: int, *, max_wait_ms: int = 0, high_watermark: int = 2**62
) -> fetch.FetchRequest:
    partition = fetch.FetchPartition(
        partition=0,
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        replica_directory_id=directory(replica),
        high_watermark=high_watermark,
    )
    return fetch.FetchRequest(
        cluster_id=CLUSTER_ID,
        replica_state=fetch.ReplicaState(replica_id=replica),
        max_wait_ms=max_wait_ms,
        max_bytes=1 << 20,
        topics=[fetch.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
    )


def fetch_response(leader_id: int, epoch: int, data: fetch.PartitionData | None = None) -> fetch.FetchResponse:
    data = data or fetch.PartitionData(partition_index=0, high_watermark=-1, records=b"")
    data.current_leader = fetch.LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch)
    topic = fetch.FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[data])
    node = fetch.NodeEndpoint(node_id=leader_id, host=f"c{leader_id}", port=9093)
    return fetch.FetchResponse(responses=[topic], node_endpoints=[node] if leader_id >= 0 else [])


def fetched(response: Response) -> fetch.PartitionData:
    """The partition of a fetch answer."""
    assert isinstance(response, fetch.FetchResponse)
    assert response.error_code == ErrorCode.NONE
    return response.responses[0].partitions[0]


def snapshot_request(
    replica: int, epoch: int, snapshot_id: tuple[int, int], position: int = 0, max_bytes: int = 1 << 20
) -> fetch_snapshot.FetchSnapshotRequest:
    partition = fetch_snapshot.RequestPartitionSnapshot(
        partition=0,
        current_leader_epoch=epoch,
        snapshot_id=fetch_snapshot.SnapshotId(end_offset=snapshot_id[0], epoch=snapshot_id[1]),
        position=position,
        replica_directory_id=directory(replica),
    )
    topic = fetch_snapshot.RequestTopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return fetch_snapshot.FetchSnapshotRequest(
        cluster_id=CLUSTER_ID, replica_id=replica, max_bytes=max_bytes, topics=[topic]
    )
