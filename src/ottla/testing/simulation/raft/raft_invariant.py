"""The invariants of a quorum, with the names of Kafka's own simulation where it has them."""

from collections.abc import Sequence
from typing import ClassVar

from ottla.base.ids import Uuid
from ottla.protocol.records.batch import batches
from ottla.raft.identity import ReplicaKey
from ottla.raft.roles.leader import Leader
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.disk import SimulatedDisk
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.raft.digest_part import DigestPart
from ottla.testing.simulation.raft.ledger import CommittedLedger
from ottla.testing.simulation.raft.raft_part import NAME, RaftPart

_READ_BYTES = 1 << 16


def quorum_of(node: SimulatedNode) -> RaftPart | None:
    """The quorum part of a node that has started; None for one that is down."""
    part = node.parts.get(NAME)
    return part if isinstance(part, RaftPart) and part.started else None


class QuorumInvariants(Invariant):
    """Asks the invariants of the quorum when something that they look at has changed: most steps change nothing."""

    name: ClassVar[str] = "Quorum"

    def __init__(self, invariants: Sequence[Invariant]) -> None:
        self.invariants = invariants
        self._seen: dict[int, object] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        if raft is None:
            return
        role, log, digest = raft.core.role, node.disk.log, node.parts.get("digest")
        applied = digest.next_offset if isinstance(digest, DigestPart) else 0
        voters = raft.core.voter_history.last_set_offset
        seen = (node.incarnation, role, role.high_watermark, log.start_offset, log.end_offset, applied, voters)
        if self._seen.get(node.id) == seen:
            return
        self._seen[node.id] = seen
        for invariant in self.invariants:
            invariant.check(cluster, node)

    def check_healed(self, cluster: Cluster) -> None:
        for invariant in self.invariants:
            invariant.check_healed(cluster)


class SingleLeader(Invariant):
    """No epoch ever has two leaders."""

    name: ClassVar[str] = "SingleLeader"

    def __init__(self) -> None:
        self._leaders: dict[int, int] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        if raft is None or not isinstance(raft.core.role, Leader):
            return
        epoch = raft.core.role.epoch
        leader_id = self._leaders.setdefault(epoch, node.id)
        if leader_id != node.id:
            raise self.fail(f"nodes {leader_id} and {node.id} both lead in epoch {epoch}")


class MonotonicEpoch(Invariant):
    """No node ever goes back to an earlier epoch, restarts included."""

    name: ClassVar[str] = "MonotonicEpoch"

    def __init__(self) -> None:
        self._epochs: dict[Uuid, int] = {}
        """By directory: a node whose disk was replaced starts anew."""

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        if raft is None:
            return
        epoch, last = raft.core.role.epoch, self._epochs.get(node.disk.directory_id, 0)
        if epoch < last:
            raise self.fail(f"node {node.id} went back from epoch {last} to {epoch}")
        self._epochs[node.disk.directory_id] = epoch


class MonotonicHighWatermark(Invariant):
    """The high watermark of a running node never falls."""

    name: ClassVar[str] = "MonotonicHighWatermark"

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        high_watermark = None if raft is None else raft.core.high_watermark
        if high_watermark is None:
            return
        incarnation, last = self._seen.get(node.id, (0, 0))
        if incarnation == node.incarnation and high_watermark < last:
            raise self.fail(f"node {node.id} went back from high watermark {last} to {high_watermark}")
        self._seen[node.id] = node.incarnation, high_watermark


def _disk(cluster: Cluster, voter: ReplicaKey) -> SimulatedDisk:
    """The disk of a voter, also one that has been taken out of its node."""
    return cluster.disks.get(voter.directory_id) or cluster.nodes[voter.id].disk


class MajorityReachedHighWatermark(Invariant):
    """At every high watermark of a leader, a majority of its voters has the log on disk up to there."""

    name: ClassVar[str] = "MajorityReachedHighWatermark"

    def __init__(self) -> None:
        self._checked: dict[int, int] = {}
        """High watermark by epoch."""

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        if raft is None or not isinstance(raft.core.role, Leader) or raft.core.high_watermark is None:
            return
        leader, high_watermark = raft.core.role, raft.core.high_watermark
        if self._checked.get(leader.epoch, -1) >= high_watermark:
            return
        self._checked[leader.epoch] = high_watermark
        voters = raft.core.voters.keys
        reached = [voter for voter in voters if _disk(cluster, voter).log.flushed_end_offset >= high_watermark]
        if len(reached) <= len(voters) // 2:
            raise self.fail(
                f"leader {node.id} of epoch {leader.epoch} has high watermark {high_watermark}, which of voters "
                f"{voters} only {reached} hold"
            )


class ConsistentCommittedData(Invariant):
    """All nodes agree on every committed record, and on the state that follows from them."""

    name: ClassVar[str] = "ConsistentCommittedData"

    def __init__(self, ledger: CommittedLedger) -> None:
        self._ledger = ledger
        self._verified: dict[int, tuple[int, int]] = {}
        """Run and offset up to which a node's log was compared."""
        self._states: dict[int, tuple[int, int]] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        high_watermark = None if raft is None else raft.core.high_watermark
        if raft is None or high_watermark is None:
            return
        self._compare_log(node, high_watermark, raft.core.role.epoch)
        digest = node.parts.get("digest")
        if isinstance(digest, DigestPart):
            known = self._states.setdefault(digest.next_offset, digest.state)
            if known != digest.state:
                raise self.fail(f"node {node.id} has {digest.state} at {digest.next_offset}, others had {known}")

    def _compare_log(self, node: SimulatedNode, high_watermark: int, epoch: int) -> None:
        log = node.disk.log
        incarnation, offset = self._verified.get(node.id, (0, 0))
        if incarnation != node.incarnation:
            offset = 0
        offset = max(offset, log.start_offset)
        while offset < high_watermark:
            data = log.read(offset, _READ_BYTES)
            if not data:
                raise self.fail(f"node {node.id} has nothing at {offset}, below its high watermark {high_watermark}")
            for batch in batches(data):
                if batch.next_offset > high_watermark:
                    break
                contradiction = self._ledger.contradiction(batch, epoch)
                if contradiction is not None:
                    raise self.fail(f"node {node.id}: {contradiction}")
                offset = batch.next_offset
            else:
                continue
            break
        self._verified[node.id] = node.incarnation, offset


class NoCommittedRecordLost(Invariant):
    """A new leader has all that was ever committed, and every acknowledged value was committed."""

    name: ClassVar[str] = "NoCommittedRecordLost"

    def __init__(self, ledger: CommittedLedger) -> None:
        self._ledger = ledger
        self._elected: set[tuple[int, int]] = set()
        self.acknowledged: dict[tuple[int, int], bytes] = {}
        """Values by epoch and offset that a leader told a client were committed."""

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        if raft is None or not isinstance(raft.core.role, Leader):
            return
        election = (raft.core.role.epoch, node.id)
        if election in self._elected:
            return
        self._elected.add(election)
        log, end = node.disk.log, self._ledger.end_before(election[0])
        if log.end_offset < end:
            raise self.fail(
                f"leader {node.id} of epoch {election[0]} has {log.end_offset} records of {end} that were committed"
            )
        if log.start_offset < end and log.end_offset >= end and not self._ledger.covers(log.read(end - 1, 1)):
            raise self.fail(f"leader {node.id} of epoch {election[0]} has another record at {end - 1}")

    def check_healed(self, cluster: Cluster) -> None:
        for (epoch, offset), value in self.acknowledged.items():
            if self._ledger.values.get((epoch, offset)) != value:
                raise self.fail(f"the record acknowledged at offset {offset} in epoch {epoch} was not committed")


class VoterSetConsistency(Invariant):
    """Nodes agree on the committed voters, and voters change one at a time."""

    name: ClassVar[str] = "VoterSetConsistency"

    def __init__(self, ledger: CommittedLedger) -> None:
        self._ledger = ledger
        self._checked: dict[int, tuple[int, int, int]] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        raft = quorum_of(node)
        high_watermark = None if raft is None else raft.core.high_watermark
        if raft is None or high_watermark is None:
            return
        context = raft.core.voter_history
        seen = (node.incarnation, high_watermark, context.last_set_offset or 0)
        if self._checked.get(node.id) == seen:
            return
        self._checked[node.id] = seen
        committed = self._ledger.voters.at(high_watermark - 1)
        known = context.set_at(high_watermark - 1)
        if committed is not None and known is not None and known != committed:
            raise self.fail(f"node {node.id} has voters {known.keys} at {high_watermark}, not {committed.keys}")
        # A follower may hold changes whose commit it has not heard of; a leader knows what it builds on.
        is_leader = isinstance(raft.core.role, Leader)
        if is_leader and known is not None and not known.has_overlapping_majority(context.last_set):
            raise self.fail(f"leader {node.id} went from voters {known.keys} to {context.last_set.keys} at once")


class ElectionWithinBound(Invariant):
    """Once the network is healed, all nodes follow one leader, which commits."""

    name: ClassVar[str] = "ElectionWithinBound"

    @staticmethod
    def holds(cluster: Cluster) -> bool:
        """Whether all nodes follow one leader that has committed in its epoch."""
        parts = [quorum_of(node) for node in cluster.nodes.values()]
        leaders = {part.core.leader for part in parts if part is not None}
        if None in parts or len(leaders) != 1:
            return False
        leader_id = leaders.pop().leader_id
        leader = None if leader_id is None else quorum_of(cluster.nodes[leader_id])
        return leader is not None and isinstance(leader.core.role, Leader) and leader.core.high_watermark is not None

    def check_healed(self, cluster: Cluster) -> None:
        if not self.holds(cluster):
            roles = {node.id: getattr(quorum_of(node), "core", None) for node in cluster.nodes.values()}
            raise self.fail(f"no leader that all follow: { {key: core and core.role for key, core in roles.items()} }")


class AllReachHighWatermark(Invariant):
    """Once the network is healed, every node catches up with the high watermark."""

    name: ClassVar[str] = "AllReachHighWatermark"

    @staticmethod
    def holds(cluster: Cluster) -> bool:
        """Whether all nodes have the same high watermark, have applied up to it, and the log ends there."""
        seen = set()
        for node in cluster.nodes.values():
            part, digest = quorum_of(node), node.parts.get("digest")
            if part is None:
                return False
            applied = digest.next_offset if isinstance(digest, DigestPart) else part.core.high_watermark
            seen.add((part.core.high_watermark, applied, node.disk.log.end_offset))
        return len(seen) == 1 and len(set(seen.pop())) == 1

    def check_healed(self, cluster: Cluster) -> None:
        if not self.holds(cluster):
            ends = {
                node.id: (part.core.high_watermark, node.disk.log.end_offset)
                for node in cluster.nodes.values()
                if (part := quorum_of(node)) is not None
            }
            raise self.fail(f"high watermarks and log ends still differ: {ends}")
