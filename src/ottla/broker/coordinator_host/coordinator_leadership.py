"""Tells the coordinators what the metadata means for them: which shards are theirs, and which topics changed.

A listener behind the replica manager. A shard is there as soon as the metadata names this broker, so that clients who
come at once are told to wait and not to look elsewhere; its loader waits until the partition is led in fact.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.coordinator.group.offsets.deletion import DeletedTopic

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.coordinator.group.group_coordinator import GroupCoordinator
    from ottla.coordinator.runtime.shard_set import ShardSet
    from ottla.metadata.image.metadata_delta import MetadataDelta
    from ottla.metadata.image.metadata_image import MetadataImage
    from ottla.metadata.image.topics_delta import TopicsDelta

_GONE: Final = None


class Followers(NamedTuple):
    """Listens to the metadata."""

    shards: "Mapping[str, ShardSet[Any]]"
    """By internal topic."""
    groups: "GroupCoordinator"
    told: Callable[[], None]
    """Called after each image."""


class CoordinatorLeadership:
    """A metadata listener."""

    def __init__(self, node_id: int, clock: "Clock", followers: Followers) -> None:
        self._node_id: Final = node_id
        self._clock: Final = clock
        self._followers: Final = followers

    def metadata_changed(self, delta: "MetadataDelta", image: "MetadataImage") -> None:
        """Opens and closes shards, and has offsets of deleted topics forgotten."""
        for role in self._roles(delta.topics):
            self._take(role)
        deleted = tuple(DeletedTopic(topic.name, topic.id) for topic in delta.topics.deleted.values())
        changed = frozenset(topic.name for topic in delta.topics.changed.values())
        if deleted or changed:
            self._followers.groups.topics_changed(deleted, changed, self._clock.now_ms())
        self._followers.told()

    def _roles(self, delta: "TopicsDelta") -> "list[_Role]":
        shards = self._followers.shards
        roles = [
            _Role(topic.name, index, leader_epoch=_GONE, leads=False)
            for topic in delta.deleted.values()
            if topic.name in shards
            for index in range(len(topic.partitions))
        ]
        for changed in delta.changed.values():
            if changed.name in shards:
                for index, partition in changed.changes.items():
                    leads = partition.leader == self._node_id
                    is_here = self._node_id in partition.replicas
                    roles.append(_Role(changed.name, index, partition.leader_epoch if is_here else _GONE, leads=leads))
        return roles

    def _take(self, role: "_Role") -> None:
        shards = self._followers.shards[role.topic]
        if role.leads and role.leader_epoch is not None:
            if role.leader_epoch > shards.leader_epoch(role.partition):
                shards.elected(role.partition, role.leader_epoch)
        else:
            shards.resigned(role.partition, role.leader_epoch)


class _Role(NamedTuple):
    """This broker's role for a partition of an internal topic from a leader epoch on; None without a replica."""

    topic: str
    partition: int
    leader_epoch: int | None
    leads: bool
