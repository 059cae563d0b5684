"""Puts a shard of the group coordinator together, with all kinds of groups that are served."""

from collections.abc import Callable

from ottla.base.chance import Chance
from ottla.base.frozen import frozen
from ottla.coordinator.group.classic.classic_groups import ClassicGroups
from ottla.coordinator.group.config import GroupConfig
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.consumer.consumer_groups import ConsumerGroups
from ottla.coordinator.group.consumer.context import ConsumerGroupContext
from ottla.coordinator.group.group_machine import GroupKinds, GroupMachine
from ottla.coordinator.group.group_state import GroupsState, GroupType
from ottla.coordinator.group.rebalance_reason import RebalanceLog
from ottla.coordinator.ports import MetadataView, ShardLog
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.timers import Timers


@frozen(kw_only=True)
class GroupContext:
    """The objects that all shards of a broker share."""

    config: GroupConfig
    chance: Chance
    metadata: MetadataView
    rebalance_log: RebalanceLog
    image_version: Callable[[], int]
    """The offset of the newest metadata."""
    hashes: TopicHashes


def new_group_shard(partition: int, log: ShardLog, context: GroupContext) -> Shard[GroupsState]:
    """A shard that is ready to be loaded."""
    timers = Timers()
    config = context.config
    classic = ClassicGroups(config.classic, timers, context.chance, context.rebalance_log)
    consumers = ConsumerGroups(
        ConsumerGroupContext(
            config=config,
            chance=context.chance,
            metadata=context.metadata,
            rebalance_log=context.rebalance_log,
            image_version=context.image_version,
            hashes=context.hashes,
        ),
        timers,
        classic,
    )
    kinds = GroupKinds(
        classic=classic,
        others={GroupType.CONSUMER: consumers},
        with_classic_members={GroupType.CONSUMER: consumers},
        watchers=[consumers],
    )
    machine = GroupMachine(config, timers, kinds, consumers, partition=partition)
    return Shard(partition, machine, log, timers, write_timeout_ms=config.write_timeout_ms)
