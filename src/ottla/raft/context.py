"""The common state of the state machine's parts: identity, ports, role, and the effects of the current event."""

from collections.abc import Sequence
from dataclasses import field

from ottla.base.frozen import frozen
from ottla.protocol.definition import Request, Response
from ottla.raft.config import QuorumConfig
from ottla.raft.connection import Connections
from ottla.raft.effect import Effect, FlushLog, SendRequest, SendResponse
from ottla.raft.identity import LocalReplica, Node, OffsetAndEpoch
from ottla.raft.listener import ListenerProgress
from ottla.raft.ports import LogPort, QuorumStatePort, RandomPort, SnapshotPort
from ottla.raft.quorum import Quorum
from ottla.raft.voters.history import VoterHistory
from ottla.raft.voters.voter_set import NO_VOTERS, VoterSet


@frozen
class RaftSetup:
    """The identity of a replica and its quorum."""

    cluster_id: str
    local: LocalReplica
    listener_name: str = "CONTROLLER"
    """The listener that voters reach each other on."""
    config: QuorumConfig = field(default_factory=QuorumConfig)
    static_voters: VoterSet = NO_VOTERS
    """`controller.quorum.voters`; they hold until the log names others."""
    bootstrap_servers: Sequence[Node] = ()
    """`controller.quorum.bootstrap.servers`; the static voters if empty."""


@frozen
class RaftPorts:
    """The ports of a replica."""

    log: LogPort
    snapshots: SnapshotPort
    quorum_state: QuorumStatePort
    random: RandomPort


class RaftContext:
    """The shared state of one replica."""

    def __init__(self, setup: RaftSetup, ports: RaftPorts) -> None:
        self.setup = setup
        self.local = setup.local
        self.config = setup.config
        self.listener_name = setup.listener_name
        self.log = ports.log
        self.snapshots = ports.snapshots
        self.effects: list[Effect] = []
        self.voters = VoterHistory(setup.static_voters, ports.log, ports.snapshots)
        self.quorum = Quorum(setup.local, setup.config, self.voters, ports.quorum_state, ports.random)
        self.connections = Connections(_bootstrap_nodes(setup), setup.config, ports.random)
        self.listener = ListenerProgress(ports.log, ports.snapshots, self.effects)
        self.shutdown_deadline_ms: int | None = None
        self._is_flushing = False

    @property
    def log_end(self) -> OffsetAndEpoch:
        """The end of the log, flushed or not."""
        return OffsetAndEpoch(offset=self.log.end_offset, epoch=self.log.last_epoch)

    @property
    def is_flushed(self) -> bool:
        """Whether nothing of the log would be lost in a crash."""
        return self.log.flushed_end_offset >= self.log.end_offset

    @property
    def is_shutting_down(self) -> bool:
        """Whether the node is on its way out."""
        return self.shutdown_deadline_ms is not None

    def respond(self, request_id: int, response: Response) -> None:
        """Answers a request."""
        self.effects.append(SendResponse(request_id, response))

    def send(self, node: Node, request: Request, now_ms: int) -> None:
        """Asks a node that is ready to be asked."""
        self.effects.append(SendRequest(node, self.connections.sent(node, now_ms), request))

    def flush(self) -> None:
        """Has the log flushed, if it is not already being done."""
        if not self._is_flushing and not self.is_flushed:
            self._is_flushing = True
            self.effects.append(FlushLog())

    def flushed(self) -> None:
        """A flush is done; what came in meanwhile needs another."""
        self._is_flushing = False
        self.flush()


def _bootstrap_nodes(setup: RaftSetup) -> Sequence[Node]:
    if setup.bootstrap_servers:
        return setup.bootstrap_servers
    nodes = [setup.static_voters.node(voter_id, setup.listener_name) for voter_id in setup.static_voters.ids]
    return [node for node in nodes if node is not None and node.id != setup.local.id]
