"""The invariants of the cluster's metadata: of every image, of every step from one to the next, and of answers.

All nodes publish the same images, so the furthest image and the one before it are checked once, not once for every
node.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import ClassVar, NamedTuple

from ottla.base.frozen import frozen
from ottla.metadata.image.metadata_image import NOTHING, MetadataImage
from ottla.metadata.image.partition import NO_LEADER, LeaderRecoveryState, PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.metadata.broker import broker_part
from ottla.testing.simulation.metadata.history import MetadataHistory, PublishedImage
from ottla.testing.simulation.metadata.part import metadata_part
from ottla.testing.simulation.metadata.setting_invariant import NoAnsweredSettingLost, SettingsMatchLog
from ottla.testing.simulation.node import SimulatedNode


@frozen
class PartitionStep:
    """A partition in one image and, if it was there, in the one before."""

    topic: TopicImage
    index: int
    before: PartitionRegistration | None
    after: PartitionRegistration

    def __str__(self) -> str:
        return f"{self.topic.name}-{self.index} went from {self.before} to {self.after}"


class ImageStep(NamedTuple):
    """Two images that follow each other in the log."""

    before: MetadataImage
    after: MetadataImage
    changed: Sequence[PartitionStep]
    """The partitions that differ."""

    @classmethod
    def between(cls, before: MetadataImage, after: MetadataImage) -> "ImageStep":
        """Compares the partitions of two images."""
        return cls(before, after, list(_changes(before, after)))

    def suspects(self) -> Iterator[PartitionStep]:
        """The partitions whose place among the brokers may have changed: all of them if a broker has."""
        if self.after.cluster is self.before.cluster or self.after.cluster == self.before.cluster:
            yield from self.changed
            return
        for topic in self.after.topics.by_id.values():
            for index, partition in enumerate(topic.partitions):
                yield PartitionStep(topic, index, self.before.topics.partition(topic.id, index), partition)


def _changes(before: MetadataImage, after: MetadataImage) -> Iterator[PartitionStep]:
    for topic_id, topic in after.topics.by_id.items():
        if before.topics.by_id.get(topic_id) is topic:
            continue
        for index, partition in enumerate(topic.partitions):
            known = before.topics.partition(topic_id, index)
            if known != partition:
                yield PartitionStep(topic, index, known, partition)


class ImageInvariant(Invariant):
    """A property of every step from one image to the next."""

    def check_step(self, step: ImageStep) -> None:
        """Looks at a step."""


class MetadataInvariants(Invariant):
    """Asks the invariants of the metadata about what nodes have published since the last time."""

    name: ClassVar[str] = "Metadata"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history
        self._equality = ImageEqualityAtEqualOffsets()
        self._settings = SettingsMatchLog()
        self._of_images: Sequence[ImageInvariant] = (
            IsrSubsetOfReplicas(),
            LeaderInIsrOrNone(),
            LeaderIsActive(),
            LeaderDirectoryIsOnline(),
            ElectedLeaderWasInSync(),
            IsrMembersAreActive(),
            MonotonicPartitionEpoch(),
            MonotonicLeaderEpoch(),
            NoAnsweredTopicLost(history),
        )
        self._of_nodes: Sequence[Invariant] = (
            ControllerImageMatchesLog(),
            NoAnswerBeforeCommit(history),
            NoAnsweredSettingLost(history),
            OnlySilentBrokersFenced(history),
            ProducerIdsGivenOnce(history),
        )
        self._of_the_end: Sequence[Invariant] = (AllBrokersReturn(history), AllPartitionsLed(history))
        self.invariants = (self._equality, self._settings, *self._of_images, *self._of_nodes, *self._of_the_end)

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        if self._history.published:
            self._check_published()
        for watching in self._of_nodes:
            watching.check(cluster, node)

    def _check_published(self) -> None:
        published, self._history.published = self._history.published, []
        for one in published:
            self._equality.compare(one)
            self._settings.compare(one)
            if one.image.provenance.offset > self._history.latest.provenance.offset:
                step = ImageStep.between(self._history.latest, one.image)
                self._history.latest = one.image
                for invariant in self._of_images:
                    invariant.check_step(step)

    def check_healed(self, cluster: Cluster) -> None:
        for invariant in self.invariants:
            invariant.check_healed(cluster)


class ImageEqualityAtEqualOffsets(Invariant):
    """Nodes whose loaders are at the same offset have the same image, however they got there."""

    name: ClassVar[str] = "ImageEqualityAtEqualOffsets"

    def __init__(self) -> None:
        self._images: dict[int, PublishedImage] = {}

    def compare(self, one: PublishedImage) -> None:
        """Compares an image with the first that was seen at its offset."""
        offset = one.image.provenance.offset
        known = self._images.setdefault(offset, one)
        if known.image is not one.image and known.image != one.image:
            raise self.fail(
                f"at {offset} node {known.node_id} has\n{known.image}\nbut node {one.node_id} has\n{one.image}"
            )


class IsrSubsetOfReplicas(ImageInvariant):
    """The ISR of a partition is a subset of its replicas, and no broker is in either twice."""

    name: ClassVar[str] = "IsrSubsetOfReplicas"

    def check_step(self, step: ImageStep) -> None:
        for change in step.changed:
            isr, replicas = change.after.isr, change.after.replicas
            if not set(isr) <= set(replicas) or len(set(isr)) != len(isr) or len(set(replicas)) != len(replicas):
                raise self.fail(str(change))


class LeaderInIsrOrNone(ImageInvariant):
    """The leader of a partition is in its ISR."""

    name: ClassVar[str] = "LeaderInIsrOrNone"

    def check_step(self, step: ImageStep) -> None:
        for change in step.changed:
            if change.after.leader != NO_LEADER and change.after.leader not in change.after.isr:
                raise self.fail(str(change))


class LeaderIsActive(ImageInvariant):
    """A leader is neither fenced nor shutting down: the batch that fences a broker takes its leaderships."""

    name: ClassVar[str] = "LeaderIsActive"

    def check_step(self, step: ImageStep) -> None:
        for change in step.suspects():
            leader = change.after.leader
            if leader != NO_LEADER and not step.after.cluster.is_active(leader):
                raise self.fail(f"{change}, led by {step.after.cluster.brokers.get(leader)}")


class LeaderDirectoryIsOnline(ImageInvariant):
    """The replica of a leader is in a log directory that works, as far as the broker has reported them."""

    name: ClassVar[str] = "LeaderDirectoryIsOnline"

    def check_step(self, step: ImageStep) -> None:
        for change in step.suspects():
            leader = step.after.cluster.brokers.get(change.after.leader)
            directory = change.after.directory(change.after.leader)
            if leader is not None and directory is not None and not leader.has_online_directory(directory):
                raise self.fail(f"{change}, led by {leader}")


class ElectedLeaderWasInSync(ImageInvariant):
    """A partition without a leader gets one that was in sync or eligible, or one that says that records are lost."""

    name: ClassVar[str] = "ElectedLeaderWasInSync"

    def check_step(self, step: ImageStep) -> None:
        for change in step.changed:
            before, after = change.before, change.after
            # Only of a single change is it known what the election had to choose from.
            if before is None or after.partition_epoch != before.partition_epoch + 1:
                continue
            if before.leader != NO_LEADER or after.leader == NO_LEADER:
                continue
            is_marked = after.leader_recovery_state == LeaderRecoveryState.RECOVERING and after.isr == (after.leader,)
            if after.leader not in (*before.isr, *before.elr) and not is_marked:
                raise self.fail(str(change))


class IsrMembersAreActive(ImageInvariant):
    """ISR ⊆ live: a broker that is fenced or shuts down leaves every ISR.

    The last member of an ISR without a leader stays, where there are no eligible leader replicas: it is known to have
    all the data.
    """

    name: ClassVar[str] = "IsrMembersAreActive"

    def check_step(self, step: ImageStep) -> None:
        for change in step.suspects():
            partition = change.after
            if partition.leader == NO_LEADER and len(partition.isr) == 1:
                continue
            dead = [member for member in partition.isr if not step.after.cluster.is_active(member)]
            if dead:
                raise self.fail(f"{change}, but {[step.after.cluster.brokers.get(member) for member in dead]}")


class MonotonicPartitionEpoch(ImageInvariant):
    """Every change of a partition raises its epoch: brokers and AlterPartition tell by it who knows more."""

    name: ClassVar[str] = "MonotonicPartitionEpoch"

    def check_step(self, step: ImageStep) -> None:
        for change in step.changed:
            if change.before is not None and change.after.partition_epoch <= change.before.partition_epoch:
                raise self.fail(str(change))


class MonotonicLeaderEpoch(ImageInvariant):
    """Leader epochs never fall, and every new leader has one of its own."""

    name: ClassVar[str] = "MonotonicLeaderEpoch"

    def check_step(self, step: ImageStep) -> None:
        for change in step.changed:
            before, after = change.before, change.after
            if before is None:
                continue
            is_new = after.leader != before.leader
            if after.leader_epoch < before.leader_epoch + (1 if is_new else 0):
                raise self.fail(str(change))


class NoAnsweredTopicLost(ImageInvariant):
    """A topic that a client was told of is in every later image until it is deleted, and a deleted one in none."""

    name: ClassVar[str] = "NoAnsweredTopicLost"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    def check_step(self, step: ImageStep) -> None:
        history, there = self._history, step.after.topics.by_id
        for topic_id, name in history.answered_created.items():
            if topic_id not in there and topic_id not in history.deleted:
                raise self.fail(f"{name} with id {topic_id} was created, but is not at {step.after.provenance}")
        for topic_id in history.answered_deleted:
            if topic_id in there:
                raise self.fail(f"the topic with id {topic_id} was deleted, but is there at {step.after.provenance}")

    def check_healed(self, cluster: Cluster) -> None:
        self.check_step(ImageStep(self._history.latest, self._history.latest, ()))


class ControllerImageMatchesLog(Invariant):
    """Once all records of a controller are committed, its image equals the one that its node loads from the log."""

    name: ClassVar[str] = "ControllerImageMatchesLog"

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, int]] = {}

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        part = metadata_part(node)
        if part is None or part.controller is None or not part.controller.is_active:
            return
        loaded, decided = part.loader.image, part.controller.image
        seen = (loaded.provenance.offset, decided.provenance.offset)
        if seen[0] < seen[1] or self._seen.get(node.id) == seen:
            return
        self._seen[node.id] = seen
        if _contents(loaded) != _contents(decided):
            raise self.fail(f"controller {node.id} has\n{decided}\nbut the log says\n{loaded}")


def _contents(image: MetadataImage) -> tuple[object, ...]:
    """All of an image except its place in the log: the quorum's own records don't move a controller's."""
    return tuple(getattr(image, each.name) for each in fields(image) if each.name != "provenance")


class NoAnswerBeforeCommit(Invariant):
    """An answer, also a refusal, leaves after the records that it rests on are committed."""

    name: ClassVar[str] = "NoAnswerBeforeCommit"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        for answer in self._history.premature_answers:
            raise self.fail(str(answer))


class OnlySilentBrokersFenced(Invariant):
    """A broker whose heartbeats come in keeps its session, however long they wait for their turn."""

    name: ClassVar[str] = "OnlySilentBrokersFenced"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        for fencing in self._history.hasty_fencings:
            raise self.fail(str(fencing))


class ProducerIdsGivenOnce(Invariant):
    """No two blocks of producer ids overlap."""

    name: ClassVar[str] = "ProducerIdsGivenOnce"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history
        self._checked = 0

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        blocks = self._history.producer_id_blocks
        if len(blocks) == self._checked:
            return
        self._checked = len(blocks)
        ordered = sorted(blocks)
        for (first, length), (following, _) in pairwise(ordered):
            if first + length > following:
                raise self.fail(f"blocks from {first} and from {following} overlap")


class AllBrokersReturn(Invariant):
    """Once the network heals every broker is registered, unfenced, and every node has the newest image."""

    name: ClassVar[str] = "AllBrokersReturn"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    @staticmethod
    def missing(cluster: Cluster, latest: MetadataImage) -> list[int]:
        """The nodes that are not up to date, and the brokers that are not active."""
        behind = []
        for node in cluster.nodes.values():
            part, broker = metadata_part(node), broker_part(node)
            is_current = part is not None and part.loader.image.provenance == latest.provenance
            if not is_current or (broker is not None and not latest.cluster.is_active(node.id)):
                behind.append(node.id)
        return behind

    def check_healed(self, cluster: Cluster) -> None:
        missing = self.missing(cluster, self._history.latest)
        if missing or self._history.latest.provenance == NOTHING:
            raise self.fail(f"nodes {missing} are behind or not active at {self._history.latest.provenance}")


class AllPartitionsLed(Invariant):
    """Once every broker is back every partition has a leader, unless no broker is known to have its data."""

    name: ClassVar[str] = "AllPartitionsLed"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    @staticmethod
    def leaderless(image: MetadataImage) -> list[tuple[str, int, PartitionRegistration]]:
        """The partitions that should have a leader and have none."""
        return [
            (topic.name, index, partition)
            for topic in image.topics.by_id.values()
            for index, partition in enumerate(topic.partitions)
            if partition.leader == NO_LEADER and (partition.isr or partition.elr or partition.last_known_elr)
        ]

    def check_healed(self, cluster: Cluster) -> None:
        leaderless = self.leaderless(self._history.latest)
        if leaderless:
            raise self.fail(f"{leaderless}, but the brokers are {list(self._history.latest.cluster.brokers.values())}")
