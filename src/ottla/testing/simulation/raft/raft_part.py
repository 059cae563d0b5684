"""The quorum as a part of a simulated node: carries out the effects of `RaftCore` on simulated disk and network.

Other parts follow the committed log by joining `listeners` when they are made, and write with `append` while
`core.role` is a leader.
"""

from collections import deque
from typing import Protocol

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Message, Request, Response
from ottla.protocol.errors import ApiError
from ottla.protocol.messages import (
    add_raft_voter,
    api_versions,
    begin_quorum_epoch,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)
from ottla.raft.context import RaftPorts, RaftSetup
from ottla.raft.core import RaftCore
from ottla.raft.effect import (
    ApplyCommitted,
    Effect,
    FlushLog,
    LeaderChanged,
    LoadSnapshot,
    SendRequest,
    SendResponse,
    ShutdownCompleted,
)
from ottla.raft.errors import AppendBufferFullError
from ottla.raft.event import CommitsApplied, Event, LogFlushed, RequestReceived, ResponseReceived, TimeElapsed
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch
from ottla.raft.roles.role import Role
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode

NAME = "raft"

_MESSAGES: dict[int, tuple[type[Request], type[Response]]] = {
    ApiKey.FETCH: (fetch.FetchRequest, fetch.FetchResponse),
    ApiKey.VOTE: (vote.VoteRequest, vote.VoteResponse),
    ApiKey.BEGIN_QUORUM_EPOCH: (
        begin_quorum_epoch.BeginQuorumEpochRequest,
        begin_quorum_epoch.BeginQuorumEpochResponse,
    ),
    ApiKey.END_QUORUM_EPOCH: (end_quorum_epoch.EndQuorumEpochRequest, end_quorum_epoch.EndQuorumEpochResponse),
    ApiKey.FETCH_SNAPSHOT: (fetch_snapshot.FetchSnapshotRequest, fetch_snapshot.FetchSnapshotResponse),
    ApiKey.API_VERSIONS: (api_versions.ApiVersionsRequest, api_versions.ApiVersionsResponse),
    ApiKey.ADD_RAFT_VOTER: (add_raft_voter.AddRaftVoterRequest, add_raft_voter.AddRaftVoterResponse),
    ApiKey.REMOVE_RAFT_VOTER: (remove_raft_voter.RemoveRaftVoterRequest, remove_raft_voter.RemoveRaftVoterResponse),
    ApiKey.UPDATE_RAFT_VOTER: (update_raft_voter.UpdateRaftVoterRequest, update_raft_voter.UpdateRaftVoterResponse),
}
_ADMIN_HOST = "admin"
_DOWN_TIME_MS = 500
_ROLE_LINE = "{} in epoch {}, leader {}, high watermark {}, log [{}, {})"


class RaftListener(Protocol):
    """A state machine on top of the committed log."""

    def apply_committed(self, effect: ApplyCommitted) -> None:
        """Takes committed batches."""
        ...

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """Takes the state of a snapshot in place of its own."""
        ...

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        """Learns of a new epoch or leader."""
        ...


class RaftPart:
    """Drives one `RaftCore`."""

    def __init__(self, node: SimulatedNode, setup: RaftSetup) -> None:
        self.node = node
        self.setup = setup
        ports = RaftPorts(node.disk.log, node.disk.snapshots, node.disk.quorum_state, node.random)
        self.core = RaftCore(setup, ports)
        self.listeners: list[RaftListener] = []
        self.started = False
        self._requests: dict[int, Frame] = {}
        self._in_flight: dict[int, tuple[int, int]] = {}
        """Node id and version of requests by correlation id."""
        self._last_sent: dict[int, int] = {}
        self._next_request_id = 0
        self._noted_role: Role | None = None
        self._noted_high_watermark: int | None = None

    @property
    def deadline_ms(self) -> int:
        return self.core.deadline_ms

    def start(self) -> None:
        self.started = True
        self._carry_out(self.core.start(self.node.clock.now_ms()))

    def wake(self) -> None:
        self.handle(TimeElapsed())

    def receive(self, frame: Frame) -> None:
        request_class, response_class = _MESSAGES[frame.api_key]
        if frame.is_request:
            self._receive_request(frame, request_class.decode(frame.payload, frame.api_version))
            return
        sent = self._in_flight.pop(frame.correlation_id, None) if frame.run == self.node.incarnation else None
        if sent is not None:
            response = response_class.decode(frame.payload, sent[1])
            self.handle(ResponseReceived(frame.correlation_id, sent[0], response))

    def handle(self, event: Event) -> None:
        """Gives the core an event, and carries out the effects that it answers."""
        self._carry_out(self.core.handle(event, self.node.clock.now_ms()))

    def append(self, epoch: int, values: list[bytes]) -> int | None:
        """Appends as the leader of an epoch; the last offset, or None if the core refuses."""
        try:
            return self.core.append(epoch, values, self.node.clock.now_ms())
        except (ApiError, AppendBufferFullError):
            return None

    def administer(self, request: Request) -> None:
        """Sends a request to the node as an operator's tool on its machine, which does not wait for the answer."""
        version = type(request).valid_versions.highest
        payload = request.encode(version)
        self.receive(Frame(_ADMIN_HOST, self.node.host, NAME, 0, True, 0, request.api, version, payload))

    def _receive_request(self, frame: Frame, request: Request) -> None:
        if isinstance(request, api_versions.ApiVersionsRequest):
            self._answer(frame, self._api_versions())
            return
        self._next_request_id += 1
        self._requests[self._next_request_id] = frame
        listener = self.setup.listener_name
        self.handle(RequestReceived(self._next_request_id, request, frame.api_version, listener))

    def _carry_out(self, effects: list[Effect]) -> None:
        waiting = deque(effects)
        while waiting:
            follow_up = self._do(waiting.popleft())
            if follow_up is not None:
                waiting.extend(self.core.handle(follow_up, self.node.clock.now_ms()))
        self._note_role()

    def _do(self, effect: Effect) -> Event | None:
        match effect:
            case SendRequest():
                self._send(effect)
            case SendResponse():
                frame = self._requests.pop(effect.request_id)
                self._answer(frame, effect.response)
            case FlushLog():
                self.node.later(self.node.disk.flush_delay_ms(), self._flush)
            case ApplyCommitted():
                for listener in self.listeners:
                    listener.apply_committed(effect)
                return CommitsApplied()
            case LoadSnapshot(snapshot_id):
                snapshots = self.node.disk.snapshots
                data = snapshots.read(snapshot_id, 0, snapshots.size(snapshot_id) or 0)
                for listener in self.listeners:
                    listener.load_snapshot(snapshot_id, data)
                return CommitsApplied()
            case LeaderChanged():
                for listener in self.listeners:
                    listener.leader_changed(effect.leader)
            case ShutdownCompleted():
                self.node.later(0, lambda: self.node.restart(_DOWN_TIME_MS))
        return None

    def _flush(self) -> None:
        self.node.disk.write_or_fail()
        self.node.disk.log.flush()
        self.handle(LogFlushed())

    def _send(self, effect: SendRequest) -> None:
        request = effect.request
        version = type(request).valid_versions.highest
        # The core waits for the last request to a node only.
        self._in_flight.pop(self._last_sent.get(effect.destination.id, 0), None)
        self._last_sent[effect.destination.id] = effect.correlation_id
        self._in_flight[effect.correlation_id] = (effect.destination.id, version)
        self.node.send(
            Frame(
                source=self.node.host,
                destination=effect.destination.host,
                part=NAME,
                run=self.node.incarnation,
                is_request=True,
                correlation_id=effect.correlation_id,
                api_key=request.api,
                api_version=version,
                payload=request.encode(version),
            )
        )

    def _answer(self, frame: Frame, response: Response) -> None:
        payload = _encode(response, frame.api_version)
        answer = frame._replace(source=frame.destination, destination=frame.source, is_request=False, payload=payload)
        self.node.send(answer)

    def _api_versions(self) -> api_versions.ApiVersionsResponse:
        versions = self.setup.local.supported_versions
        feature = api_versions.SupportedFeatureKey(
            name="kraft.version",
            min_version=versions.min_supported_version,
            max_version=versions.max_supported_version,
        )
        return api_versions.ApiVersionsResponse(supported_features=[feature])

    def _note_role(self) -> None:
        role = self.core.role
        if role is not self._noted_role or role.high_watermark != self._noted_high_watermark:
            self._noted_role, self._noted_high_watermark = role, role.high_watermark
            log = self.node.disk.log
            details = (role.kind.value, role.epoch, role.leader_id, role.high_watermark)
            self.node.note(_ROLE_LINE, *details, log.start_offset, log.end_offset)


def _encode(message: Message, version: int) -> bytes:
    return message.encode(version)


def raft_part(node: SimulatedNode) -> RaftPart:
    """The quorum part of a running node."""
    part = node.parts[NAME]
    assert isinstance(part, RaftPart)
    return part
