"""The metadata as a part of a simulated node: every node loads the committed log, controllers also decide.

It joins the quorum part: what is committed goes to the loader, then to the controller, whose answers it releases; a
leadership is claimed when the quorum tells of it, and renounced when it tells of another. Now and then the image
becomes a snapshot, from which nodes that restart or lag begin.
"""

from collections.abc import Collection, Sequence
from typing import Final

from immutables import Map

from ottla.base.frozen import frozen
from ottla.metadata.batch import read_batches, record_values
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.bootstrap import bootstrap_records
from ottla.metadata.controller.context import Caller, ControllerPorts
from ottla.metadata.controller.controller import Controller
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.feature import ELIGIBLE_LEADER_REPLICAS_VERSION, default_features
from ottla.metadata.image.cluster import BrokerRegistration
from ottla.metadata.image.metadata_image import Provenance
from ottla.metadata.image.snapshot import snapshot_records
from ottla.metadata.loader import MetadataLoader
from ottla.metadata.metadata_version import LATEST, MetadataVersion
from ottla.protocol.control_record import SnapshotHeaderRecord
from ottla.protocol.definition import Request
from ottla.protocol.errors import NotControllerError, NotLeaderOrFollowerError, RequestTimedOutError
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.records.batch import batches
from ottla.raft.effect import ApplyCommitted
from ottla.raft.identity import LeaderAndEpoch, OffsetAndEpoch
from ottla.raft.log.control_batch import read_control_batch
from ottla.testing.simulation.metadata.client import NAME, ControllerClient, answer_frame, decode_request
from ottla.testing.simulation.metadata.history import HastyFencing, MetadataHistory, PrematureAnswer
from ottla.testing.simulation.metadata.schema import SimulatedSchema
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.raft.ledger import CommittedLedger
from ottla.testing.simulation.raft.raft_invariant import NoCommittedRecordLost
from ottla.testing.simulation.raft.raft_part import RaftPart

NEVER_MS: Final = 2**62
_SNAPSHOT_DELAY_MS = 20


class RaftQuorum:
    """The quorum as the controller sees it: writes through the quorum part of the same node."""

    def __init__(self, raft: RaftPart) -> None:
        self._raft = raft

    def end_offset(self) -> int:
        """The offset that the next record gets."""
        return self._raft.core.next_offset

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        """Appends one atomic batch; a quorum that has moved on is NOT_CONTROLLER to the controller."""
        try:
            return self._raft.core.append(epoch, record_values(records), self._raft.node.clock.now_ms())
        except NotLeaderOrFollowerError as error:
            raise NotControllerError(error.message) from error

    def leader_id(self) -> int | None:
        """Who leads, as far as this node knows."""
        return self._raft.core.leader.leader_id

    def voter_ids(self) -> Collection[int]:
        """The voters that count now."""
        return [key.id for key in self._raft.core.voters.keys]

    def kraft_version(self) -> int:
        """The kraft.version that counts now."""
        return self._raft.core.kraft_version

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        """Raises kraft.version, or says why not."""
        now_ms = self._raft.node.clock.now_ms()
        self._raft.core.upgrade_kraft_version(epoch, level, now_ms, validate_only=validate_only)


@frozen
class MetadataPlan:
    """The settings of one run that the metadata depends on."""

    cluster_id: str
    controllers: Sequence[int]
    session_timeout_ms: int = 1500
    heartbeat_interval_ms: int = 400
    version: MetadataVersion = LATEST
    """The metadata.version that the cluster begins with."""
    elr: bool = True
    directories_max: int = 1
    """How many log directories a broker may have."""
    snapshot_every: int = 0

    def settings(self, node_id: int) -> ControllerSettings:
        """The settings of a node's controller."""
        return ControllerSettings(
            node_id=node_id,
            cluster_id=self.cluster_id,
            num_partitions=2,
            default_replication_factor=2,
            broker_session_timeout_ms=self.session_timeout_ms,
            # An idle controller must be silent for long enough that a log can be seen to end everywhere alike.
            metadata_max_idle_interval_ms=1500,
            leader_imbalance_check_interval_ms=3000,
            unclean_leader_election_interval_ms=4000,
        )

    def bootstrap(self) -> list[VersionedRecord]:
        """The records that the log begins with."""
        levels = default_features(self.version)
        if not self.elr:
            levels.pop(ELIGIBLE_LEADER_REPLICAS_VERSION.name, None)
        return bootstrap_records(levels)


@frozen
class Witness:
    """The recorders of what nodes say and do, for the invariants."""

    history: MetadataHistory
    ledger: CommittedLedger
    losses: NoCommittedRecordLost


class MetadataPart:
    """The loader of a node, its controller if it may have one, and a client of the active controller."""

    def __init__(self, raft: RaftPart, plan: MetadataPlan, witness: Witness) -> None:
        node = raft.node
        self.node = node
        self.raft = raft
        self.loader = MetadataLoader()
        self.client = ControllerClient(raft, plan.controllers)
        self.controller: Controller | None = None
        if node.id in plan.controllers:
            ports = ControllerPorts(SimulatedSchema(), node.random, RaftQuorum(raft))
            self.controller = Controller(plan.settings(node.id), ports, plan.bootstrap())
        self._plan = plan
        self._witness = witness
        self._since_snapshot = 0
        self._busy_until_ms = 0
        self._heard_ms: dict[tuple[int, int], int] = {}
        """When brokers were last heard of, by id and epoch, as long as this node is the controller."""
        raft.listeners.append(self)

    @property
    def deadline_ms(self) -> int:
        due_ms = None if self.controller is None else self.controller.next_tick_ms
        return NEVER_MS if due_ms is None else due_ms

    def start(self) -> None:
        """Does nothing: the quorum speaks first."""

    def wake(self) -> None:
        controller = self.controller
        if controller is None or not controller.is_active:
            return
        before = controller.image.cluster.brokers
        controller.tick(self.node.clock.now_ms())
        if controller.is_active and controller.image.cluster.brokers is not before:
            self._note_fencings(before, controller.image.cluster.brokers)

    def be_busy(self, duration_ms: int) -> None:
        """Delays the requests that arrive from now on, for a while."""
        self.node.note(f"the controller is busy for {duration_ms} ms")
        self._busy_until_ms = self.node.clock.now_ms() + duration_ms

    def receive(self, frame: Frame) -> None:
        if not frame.is_request:
            self.client.receive(frame)
        elif self.controller is not None:
            self._serve(self.controller, frame)

    def apply_committed(self, effect: ApplyCommitted) -> None:
        for batch in read_batches(effect.batches):
            # One by one, so that every state between is looked at.
            self.loader.load([batch])
            self._witness.history.applied(batch)
            for offset in range(batch.base_offset, batch.last_offset + 1):
                self._witness.ledger.values.setdefault((batch.epoch, offset), b"")
            self._publish()
        if self.controller is not None:
            self.controller.committed(effect.last_offset)
        self._since_snapshot += effect.last_offset + 1 - effect.base_offset
        if self._plan.snapshot_every and self._since_snapshot >= self._plan.snapshot_every:
            self._since_snapshot = 0
            self.node.later(_SNAPSHOT_DELAY_MS, self._snapshot)

    def load_snapshot(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        records = [record for batch in read_batches(data) for record in batch.records]
        provenance = Provenance(snapshot_id.offset - 1, snapshot_id.epoch, _last_contained_timestamp_ms(data))
        self.loader.load_snapshot(records, provenance)
        self._since_snapshot = 0
        if snapshot_id.offset:
            self._publish()

    def leader_changed(self, leader: LeaderAndEpoch) -> None:
        controller = self.controller
        if controller is None:
            return
        if leader.leader_id != self.node.id:
            if controller.is_active:
                self.node.note("renounces the controllership")
                controller.renounce()
            return
        self.node.note(f"claims the controllership of epoch {leader.epoch}")
        self._heard_ms = {}
        now_ms = self.node.clock.now_ms()
        try:
            controller.claim(leader.epoch, self.loader.image, now_ms, in_transaction=self.loader.in_transaction)
        except NotControllerError:
            self.node.note("the controllership is gone already")

    def _publish(self) -> None:
        self._witness.history.publish(self.node.id, self.loader.image)

    def _note_fencings(self, before: Map[int, BrokerRegistration], after: Map[int, BrokerRegistration]) -> None:
        """Only silence fences a broker of itself, and silence is longer than a session."""
        for broker_id, broker in after.items():
            old = before.get(broker_id)
            heard_ms = self._heard_ms.get((broker_id, broker.epoch))
            if old is None or old.fenced or not broker.fenced or heard_ms is None:
                continue
            silent_ms = self.node.clock.now_ms() - heard_ms
            if silent_ms < self._plan.session_timeout_ms:
                self._witness.history.hasty_fencings.append(HastyFencing(self.node.id, broker_id, silent_ms))

    def _serve(self, controller: Controller, frame: Frame) -> None:
        """Takes a request in at once, and carries it out when the controller has done what came before."""
        request, now_ms = decode_request(frame), self.node.clock.now_ms()
        if isinstance(request, BrokerHeartbeatRequest) and controller.is_active:
            controller.heard(request.broker_id, request.broker_epoch, now_ms)
            self._heard_ms[request.broker_id, request.broker_epoch] = now_ms
        if now_ms < self._busy_until_ms:
            self.node.later(self._busy_until_ms - now_ms, lambda: self._submit(controller, frame, request))
        else:
            self._submit(controller, frame, request)

    def _submit(self, controller: Controller, frame: Frame, request: Request) -> None:
        answer = controller.submit(request, self.node.clock.now_ms(), Caller(api_version=frame.api_version))
        rests_on = controller.image.provenance if controller.is_active else None
        answer.when_done(lambda answer: self._answer(frame, request, answer, rests_on))

    def _answer(self, frame: Frame, request: Request, answer: Answer, rests_on: Provenance | None) -> None:
        if rests_on is not None and not isinstance(answer.error, (NotControllerError, RequestTimedOutError)):
            # A leader that resigned no longer has a high watermark, but what it applied stays committed.
            high_watermark = max(self.raft.core.high_watermark or 0, self.loader.last_offset + 1)
            if high_watermark <= rests_on.offset:
                name = type(request).__name__
                early = PrematureAnswer(self.node.id, name, rests_on.offset, high_watermark)
                self._witness.history.premature_answers.append(early)
            self._witness.history.answers += 1
            self._witness.losses.acknowledged[rests_on.epoch, rests_on.offset] = b""
        self.node.send(answer_frame(frame, answer))

    def _snapshot(self) -> None:
        image, core = self.loader.image, self.raft.core
        if image.is_empty or not self.loader.is_batch_aligned:
            return
        offset, epoch, timestamp_ms = image.provenance
        snapshot_id = OffsetAndEpoch(offset=offset + 1, epoch=epoch)
        writer = core.begin_snapshot(snapshot_id, timestamp_ms, self.node.clock.now_ms())
        if writer is None:
            return
        writer.append(record_values(list(snapshot_records(image))))
        core.store_snapshot(writer)
        self.node.note(f"snapshot {snapshot_id}")
        if self.node.random.randrange(2):
            core.delete_before_snapshot(snapshot_id)


def _last_contained_timestamp_ms(data: bytes) -> int:
    """The timestamp in the header of a snapshot."""
    for batch in batches(data):
        for _, message in read_control_batch(batch):
            if isinstance(message, SnapshotHeaderRecord):
                return message.last_contained_log_timestamp
    return -1


def metadata_part(node: SimulatedNode) -> MetadataPart | None:
    """The metadata part of a node; None while the node is down."""
    part = node.parts.get(NAME)
    return part if isinstance(part, MetadataPart) else None
