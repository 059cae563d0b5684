"""The invariants of coordinators, under any faults of brokers, logs and clients.

The truth is what the `Witness` has replayed of the committed logs, and what clients were told (`CoordinatorHistory`).
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol, cast

from ottla.coordinator.group.classic.group import ClassicGroup
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.runtime.routing import partition_for
from ottla.coordinator.runtime.shard import ShardStatus
from ottla.coordinator.txn.state import ENDING, TransactionState
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.coordinator.broker import broker_part
from ottla.testing.simulation.coordinator.compaction import compacted
from ottla.testing.simulation.coordinator.controller import SimulatedController
from ottla.testing.simulation.coordinator.history import Attempt, CoordinatorHistory, InputRecord, SyncAnswer
from ottla.testing.simulation.coordinator.image import OFFSETS, TRANSACTIONS
from ottla.testing.simulation.coordinator.scenario import CoordinatorScenario
from ottla.testing.simulation.coordinator.shard_load import stored
from ottla.testing.simulation.coordinator.witness import NO_OFFSET, GroupPartition, VisibleRecord, Witness
from ottla.testing.simulation.coordinator.workload.client import client_part
from ottla.testing.simulation.coordinator.workload.member import ClientOutside, Membership
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.node import SimulatedNode


class WatchedCluster(Protocol):
    """The parts of a `CoordinatorCluster` that its invariants look at."""

    @property
    def scenario(self) -> CoordinatorScenario:
        """The groups that there are."""
        ...

    @property
    def controller(self) -> SimulatedController:
        """The replicated partitions."""
        ...

    @property
    def client_outside(self) -> ClientOutside:
        """The topics as clients see them."""
        ...

    def members(self, group_id: str) -> Iterator[Membership]:
        """The members of a group that run."""
        ...


def coordinator_cluster(cluster: Cluster) -> WatchedCluster:
    """A cluster as the one that it is."""
    return cast(WatchedCluster, cluster)


class CoordinatorInvariants(Invariant):
    """Asks all of them."""

    name: ClassVar[str] = "Coordinator"

    def __init__(self, history: CoordinatorHistory, witness: Witness) -> None:
        self.invariants: Sequence[Invariant] = (
            NoPartitionAssignedTwice(history, witness),
            EveryPartitionAssigned(),
            CommittedOffsetsNeverGoBack(history, witness),
            AcknowledgedIsCommitted(history, witness),
            EveryTransactionEnds(witness),
            TransactionsAreAtomic(history, witness),
            ExactlyOnce(witness),
            ReplayEquality(witness),
            RefusalsChangeNothing(history),
        )
        self._of_steps = [one for one in self.invariants if type(one).check is not Invariant.check]
        self._witness = witness

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        for invariant in self._of_steps:
            invariant.check(cluster, node)
        self._witness.visible.clear()

    def check_healed(self, cluster: Cluster) -> None:
        for invariant in self.invariants:
            invariant.check_healed(cluster)


class NoPartitionAssignedTwice(Invariant):
    """In one generation, or among the members of one moment, a partition has one owner."""

    name: ClassVar[str] = "NoPartitionAssignedTwice"

    def __init__(self, history: CoordinatorHistory, witness: Witness) -> None:
        self._history = history
        self._witness = witness
        self._owners: dict[tuple[str, int, PartitionKey], SyncAnswer] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        if self._history.sync_answers:
            self._check_generations()
        part = client_part(node)
        if part is not None and part.member.owned:
            self._check_members(coordinator_cluster(cluster), part.member)

    def _check_generations(self) -> None:
        """Compares the assignments that classic members were given, generation by generation."""
        answers, self._history.sync_answers = self._history.sync_answers, []
        for answer in answers:
            group = self._group(answer.group_id)
            if not isinstance(group, ClassicGroup):
                # Each member is told in an epoch of its own; see `_check_members`.
                continue
            # A group that was empty may count its generations anew: who is not in it is of an earlier life. So is
            # a static member that is back by its name; it has another member id.
            present = {member.member_id for member in group.members}
            for key in answer.assigned:
                place = (answer.group_id, answer.generation, key)
                known, self._owners[place] = self._owners.get(place, answer), answer
                if known.owner != answer.owner and known.member_id in present:
                    raise self.fail(
                        f"{key} is {known.owner}'s and {answer.owner}'s in generation {answer.generation} "
                        f"of {answer.group_id}"
                    )

    def _check_members(self, cluster: WatchedCluster, member: Membership) -> None:
        """Compares what the present members of a consumer group believe to own."""
        group = self._group(member.plan.group_id)
        if not isinstance(group, ConsumerGroup) or not _is_in(group, member):
            return
        for other in cluster.members(member.plan.group_id):
            if other is not member and _is_in(group, other) and other.owned & member.owned:
                raise self.fail(
                    f"{sorted(other.owned & member.owned)} of {member.plan.group_id} "
                    f"are {member.identity}'s and {other.identity}'s"
                )

    def _group(self, group_id: str) -> Any:
        return self._witness.group(partition_for(group_id, 2), group_id)


def _is_in(group: ConsumerGroup, member: Membership) -> bool:
    identity = member.identity
    return identity is not None and identity.member_id in group.members


class EveryPartitionAssigned(Invariant):
    """A group without faults comes to own all partitions of its topics.

    A cooperative member gives up partitions first and joins again for others to get them. If it is a static member that
    dies in between, its successor takes over the rest without a rebalance, as in Apache Kafka, and the partitions that
    were given up have no owner until the next one. So of cooperative groups with static members only owned partitions
    are compared.
    """

    name: ClassVar[str] = "EveryPartitionAssigned"

    def check_healed(self, cluster: Cluster) -> None:
        for problem in unassigned(coordinator_cluster(cluster)):
            raise self.fail(problem)


def unassigned(cluster: WatchedCluster) -> Iterator[str]:
    """A sentence for each group whose members do not own exactly the partitions that they want."""
    for group in cluster.scenario.groups:
        members = [member for member in cluster.members(group.group_id) if member.identity is not None]
        owned = sorted(key for member in members for key in member.owned)
        wanted = sorted(cluster.client_outside.partitions(group.topics))
        if group.protocol == "cooperative" and group.static_members:
            wanted = sorted(set(wanted).intersection(owned))
        if owned != wanted:
            shares = {str(member.identity): sorted(member.owned) for member in members}
            yield f"members of {group.group_id} own {shares}, which is not {wanted}"


class CommittedOffsetsNeverGoBack(Invariant):
    """Committed offsets of a group only grow until they are deleted: its members never commit an earlier position."""

    name: ClassVar[str] = "CommittedOffsetsNeverGoBack"

    def __init__(self, history: CoordinatorHistory, witness: Witness) -> None:
        self._history = history
        self._witness = witness

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        steps, self._witness.offset_steps = self._witness.offset_steps, []
        for place, before, after in steps:
            is_deleted = after == NO_OFFSET and place.group_id in self._history.deletions_asked
            if after < before and not is_deleted:
                raise self.fail(f"the offset of {place} went from {before} to {after}")


class AcknowledgedIsCommitted(Invariant):
    """An acknowledged offset is committed."""

    name: ClassVar[str] = "AcknowledgedIsCommitted"

    def __init__(self, history: CoordinatorHistory, witness: Witness) -> None:
        self._history = history
        self._witness = witness

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        answers, self._history.offset_answers = self._history.offset_answers, []
        for group_id, key, offset in answers:
            if (GroupPartition(group_id, *key), offset) not in self._witness.seen_offsets:
                raise self.fail(f"offset {offset} of {key} in {group_id} was acknowledged, and is not committed")


class TransactionsAreAtomic(Invariant):
    """A committed transaction becomes visible whole in each partition; an aborted one never does."""

    name: ClassVar[str] = "TransactionsAreAtomic"

    def __init__(self, history: CoordinatorHistory, witness: Witness) -> None:
        self._history = history
        self._witness = witness
        self._visible: dict[int, set[tuple[PartitionKey, InputRecord]]] = {}
        """What is visible of an attempt, by its number."""

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        visible = self._witness.visible
        if not visible and not self._history.outcomes:
            return
        for record in visible:
            self._visible.setdefault(record.attempt_number, set()).add((record.key, record.record))
        for key, number in dict.fromkeys((record.key, record.attempt_number) for record in visible):
            self._check_visible(key, self._history.attempts[number])
        outcomes, self._history.outcomes = self._history.outcomes, []
        for attempt in outcomes:
            if attempt.outcome is False and attempt.number in self._visible:
                raise self.fail(f"{attempt} is visible, and its client was told that it is aborted")

    def check_healed(self, cluster: Cluster) -> None:
        """Every transaction that is visible or was acknowledged is visible in all its partitions."""
        for attempt in self._history.attempts:
            seen = {record for _, record in self._visible.get(attempt.number, ())}
            if (attempt.outcome or seen) and seen != set(attempt.written):
                raise self.fail(f"only {sorted(seen)} of {attempt} is visible")

    def _check_visible(self, key: PartitionKey, attempt: Attempt) -> None:
        if attempt.outcome is False or not attempt.is_commit_asked:
            raise self.fail(f"{attempt} is visible in {key}, and was never committed")
        seen = {record for place, record in self._visible[attempt.number] if place == key}
        if seen != {record for record, place in attempt.written.items() if place == key}:
            raise self.fail(f"only {sorted(seen)} of {attempt} is visible in {key}")


class ExactlyOnce(Invariant):
    """Each input record below the committed offset of a transforming group is in the output exactly once."""

    name: ClassVar[str] = "ExactlyOnce"

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._transformed: dict[InputRecord, VisibleRecord] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        for found in self._witness.visible:
            known = self._transformed.setdefault(found.record, found)
            if known is not found:
                raise self.fail(f"{found.record} came out twice: {known} and {found}")

    def check_healed(self, cluster: Cluster) -> None:
        for offsets in self._witness.offsets.values():
            for place, end_offset in offsets.items():
                if not _transforms(coordinator_cluster(cluster), place.group_id):
                    continue
                wanted = {InputRecord(place.topic, place.partition, offset) for offset in range(end_offset)}
                found = {record for record in self._transformed if record[:2] == (place.topic, place.partition)}
                if found != wanted:
                    raise self.fail(
                        f"{place} is at {end_offset}; lost {sorted(wanted - found)}, unasked {sorted(found - wanted)}"
                    )


def _transforms(cluster: WatchedCluster, group_id: str) -> bool:
    return any(group.group_id == group_id and group.transactions for group in cluster.scenario.groups)


class EveryTransactionEnds(Invariant):
    """Left in peace, every transaction ends, and its end reaches every partition."""

    name: ClassVar[str] = "EveryTransactionEnds"

    def __init__(self, witness: Witness) -> None:
        self._witness = witness

    def check_healed(self, cluster: Cluster) -> None:
        for problem in unended(self._witness):
            raise self.fail(problem)


def unended(witness: Witness) -> Iterator[str]:
    """The transactions that are still open, as far as is committed."""
    for shard in witness.transactions.values():
        for transactional_id, metadata in shard.state.items():
            if metadata.state in (*ENDING, TransactionState.ONGOING):
                yield f"the transaction of {transactional_id} is {metadata}"
    for key, reader in witness.readers.items():
        if not reader.is_idle:
            yield f"{key} waits for the end of a transaction"
    for partition, group_shard in witness.groups.items():
        if group_shard.state.offsets.pending:
            yield f"{OFFSETS}-{partition} waits for the end of a transaction: {group_shard.state.offsets.pending}"


class ReplayEquality(Invariant):
    """A coordinator's state is what its log says, whether it wrote the log or loaded it, whole or compacted."""

    name: ClassVar[str] = "ReplayEquality"

    def __init__(self, witness: Witness) -> None:
        self._witness = witness
        self._compared: dict[PartitionKey, tuple[Any, Any]] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        part = broker_part(node)
        if part is None:
            return
        for topic, shards in part.shards.items():
            for shard in shards:
                if shard.status is ShardStatus.ACTIVE and shard.end_offset == shard.high_watermark:
                    self._compare(PartitionKey(topic, shard.partition), shard)

    def check_healed(self, cluster: Cluster) -> None:
        for key, partition in coordinator_cluster(cluster).controller.partitions.items():
            if key.topic in (OFFSETS, TRANSACTIONS):
                shard = self._witness.new_shard(key)
                for batch in compacted([stored(batch) for batch in partition.committed_batches]):
                    shard.load(batch)
                truth = self._witness.shard(key)
                if shard.state != truth.state:
                    raise self.fail(f"{key} compacted is {shard.state}, and was {truth.state}")

    def _compare(self, key: PartitionKey, shard: Any) -> None:
        truth = self._witness.shard(key)
        pair = (shard.committed_state, truth.state)
        known = self._compared.get(key)
        if shard.end_offset != truth.end_offset or (known and known[0] is pair[0] and known[1] is pair[1]):
            return
        self._compared[key] = pair
        if pair[0] != pair[1]:
            raise self.fail(f"{key} at {shard.end_offset} is {pair[0]}, and its log says {pair[1]}")


class RefusalsChangeNothing(Invariant):
    """An operation that is answered with an error has changed nothing."""

    name: ClassVar[str] = "RefusalsChangeNothing"

    def __init__(self, history: CoordinatorHistory) -> None:
        self._history = history

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        for refusal in self._history.changed_refusals:
            raise self.fail(f"{refusal.api} was answered with {refusal.error} and changed the state")
