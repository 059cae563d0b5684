"""`kafka-reassign-partitions --execute` and `--cancel`: starts and stops moves, and sets their throttles."""

import asyncio
from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ChosenOptions, ToolError
from ottla.cli.kafka.subcommand.reassign_plan import Plan, TerseError, check_plan, render_plan
from ottla.cli.kafka.subcommand.reassign_verify import (
    BROKER_THROTTLES,
    TOPIC_THROTTLES,
    clear_throttles,
    in_order,
    replica_dirs,
    shown,
)
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import AlterConfigOp, ConfigResource, ConfigResourceType
from ottla.client.admin.value.replica import PartitionReassignment, TopicPartitionReplica
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ReplicaNotAvailableError, UnknownTopicOrPartitionError

_EXISTING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create "
    "a new partition assignment in addition to the existing one. The --additional flag can also be used to change the "
    "throttle by resubmitting the current reassignment."
)
_VERIFY: Final = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."
)
_RETRY_S: Final = 0.1

Reassignments = Mapping[TopicPartition, PartitionReassignment]
Replicas = Mapping[TopicPartition, tuple[int, ...]]


class Move(NamedTuple):
    """Where a partition is copied from, and where to."""

    sources: frozenset[int]
    destinations: frozenset[int]


async def execute(admin: AsyncAdmin, plan: Plan, options: ChosenOptions) -> None:
    """Starts the moves."""
    check_plan(plan)
    under_way = await admin.list_partition_reassignments()
    if under_way and not options.has("additional"):
        raise TerseError(_EXISTING)
    await _check_brokers(admin, plan)
    current = await current_replicas(admin, plan.partitions)
    places = await replica_dirs(
        admin, [TopicPartitionReplica(*part, broker) for part, brokers in current.items() for broker in brokers]
    )
    log_dirs = {replica: place.current for replica, place in places.items() if place.current is not None}
    print(f"Current partition replica assignment\n\n{render_plan(current, log_dirs)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    await _throttle(admin, plan, options, proposed_moves(under_way, plan.partitions, current))
    await _start(admin, plan, allow_factor_change=not options.has("disallow-replication-factor-change"))
    if plan.log_dirs:
        await _move(admin, plan.log_dirs, options.integer("timeout") or 0)


async def _check_brokers(admin: AsyncAdmin, plan: Plan) -> None:
    present = {node.id for node in (await admin.describe_cluster()).nodes}
    for broker in sorted({broker for _, replicas in plan.parts for broker in replicas}):
        if broker not in present:
            raise ToolError(f"Unknown broker id {broker}")


async def current_replicas(admin: AsyncAdmin, wanted: Replicas) -> dict[TopicPartition, tuple[int, ...]]:
    """Where partitions are; `UnknownTopicOrPartitionError` in Kafka's words if one does not exist."""
    failed: dict[str, OttlaError] = {}
    topics = await admin.describe_topics({partition.topic for partition in wanted}, errors=failed)
    for topic, error in failed.items():
        if isinstance(error, UnknownTopicOrPartitionError):
            raise UnknownTopicOrPartitionError(f"Topic {topic} not found.")
        raise error
    present = {
        TopicPartition(topic.name, info.partition): info.replicas
        for topic in topics.values()
        for info in topic.partitions
    }
    missing = ", ".join(str(partition) for partition in wanted if partition not in present)
    if missing:
        raise UnknownTopicOrPartitionError(f"Unable to find partition: {missing}")
    return {partition: present[partition] for partition in wanted}


async def _start(admin: AsyncAdmin, plan: Plan, *, allow_factor_change: bool) -> None:
    failed: dict[TopicPartition, OttlaError] = {}
    wishes = plan.partitions
    await admin.alter_partition_reassignments(
        wishes, allow_replication_factor_change=allow_factor_change, errors=failed
    )
    if failed:
        listed = "\n".join(f"{partition}: {error}" for partition, error in sorted(failed.items()))
        raise TerseError(f"Error reassigning partition(s):\n{listed}")
    listed = ",".join(map(str, sorted(wishes)))
    print(f"Successfully started partition reassignment{'' if len(wishes) == 1 else 's'} for {listed}")


async def _throttle(
    admin: AsyncAdmin, plan: Plan, options: ChosenOptions, moves: Mapping[TopicPartition, Move]
) -> None:
    rate, dir_rate = options.integer("throttle"), options.integer("replica-alter-log-dirs-throttle")
    assert rate is not None
    assert dir_rate is not None
    if rate < 0 and dir_rate < 0:
        return
    print(_VERIFY)
    if rate >= 0:
        await admin.incremental_alter_configs(
            {
                ConfigResource(ConfigResourceType.TOPIC, topic): [
                    AlterConfigOp(name, value) for name, value in zip(TOPIC_THROTTLES, values, strict=True)
                ]
                for topic, values in throttled_replicas(moves).items()
            }
        )
        brokers = {broker for move in moves.values() for broker in move.sources | move.destinations}
        await _set_rate(admin, brokers, BROKER_THROTTLES[:2], rate)
        print(f"The inter-broker throttle limit was set to {rate} B/s")
    if dir_rate >= 0:
        await _set_rate(admin, {replica.broker_id for replica in plan.log_dirs}, BROKER_THROTTLES[2:], dir_rate)
        print(f"The replica-alter-dir throttle limit was set to {dir_rate} B/s")


async def _set_rate(admin: AsyncAdmin, brokers: set[int], names: tuple[str, ...], rate: int) -> None:
    await admin.incremental_alter_configs(
        {
            ConfigResource(ConfigResourceType.BROKER, str(broker)): [AlterConfigOp(name, str(rate)) for name in names]
            for broker in sorted(brokers)
        }
    )


def proposed_moves(under_way: Reassignments, wanted: Replicas, current: Replicas) -> dict[TopicPartition, Move]:
    """All moves when the wanted ones have begun, too; a partition that moves already keeps its sources."""
    moves = {
        partition: Move(frozenset(one.replicas) - frozenset(one.adding_replicas), frozenset(one.adding_replicas))
        for partition, one in under_way.items()
    }
    for partition, replicas in wanted.items():
        sources = moves[partition].sources if partition in moves else frozenset(current[partition])
        moves[partition] = Move(sources, frozenset(replicas) - sources)
    return moves


def throttled_replicas(moves: Mapping[TopicPartition, Move]) -> dict[str, tuple[str, str]]:
    """The values of the topics' throttle configs: those that send, and those that receive.

    >>> throttled_replicas({TopicPartition("t", 0): Move(frozenset({1, 2}), frozenset({3}))})
    {'t': ('0:1,0:2', '0:3')}
    """
    senders: dict[str, set[str]] = {}
    receivers: dict[str, set[str]] = {}
    for partition, move in moves.items():
        senders.setdefault(partition.topic, set()).update(f"{partition.partition}:{one}" for one in move.sources)
        receivers.setdefault(partition.topic, set()).update(
            f"{partition.partition}:{one}" for one in move.destinations - move.sources
        )
    return {topic: (",".join(sorted(senders[topic])), ",".join(sorted(receivers[topic]))) for topic in senders}


async def _move(admin: AsyncAdmin, log_dirs: Mapping[TopicPartitionReplica, str], timeout_ms: int) -> None:
    """Starts moves between directories; a replica that is only coming to its broker is tried again."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_ms / 1000
    pending = dict(log_dirs)
    while pending:
        failed: dict[TopicPartitionReplica, OttlaError] = {}
        await admin.alter_replica_log_dirs(pending, errors=failed)
        for replica, error in failed.items():
            if not isinstance(error, ReplicaNotAvailableError):
                raise ToolError(f"Failed to alter dir for {shown(replica)}") from error
        for replica in in_order(replica for replica in pending if replica not in failed):
            print(
                f"Successfully started moving log directory to {pending.pop(replica)} for replica "
                f"{replica.topic}-{replica.partition} with broker {replica.broker_id} "
            )
        if pending and loop.time() >= deadline:
            listed = ",".join(map(shown, in_order(pending)))
            plural = "" if len(pending) == 1 else "s"
            raise TerseError(f"Timed out before log directory move{plural} could be started for: {listed}")
        if pending:
            await asyncio.sleep(_RETRY_S)


async def cancel(admin: AsyncAdmin, plan: Plan, options: ChosenOptions) -> None:
    """Stops those moves of the plan that are under way."""
    found = await admin.list_partition_reassignments(plan.partitions)
    active = sorted(part for part, one in found.items() if one.adding_replicas or one.removing_replicas)
    if active:
        await _cancel_reassignments(admin, active)
    else:
        print("None of the specified partition reassignments are active.")
    places = await replica_dirs(admin, plan.log_dirs)
    moving = {
        replica: place.current
        for replica, place in places.items()
        if place.current is not None and place.future is not None
    }
    if moving:
        await _move(admin, moving, options.integer("timeout") or 0)
    else:
        print("None of the specified partition moves are active.", end="")
    if not options.has("preserve-throttles"):
        await clear_throttles(admin, plan)


async def _cancel_reassignments(admin: AsyncAdmin, partitions: list[TopicPartition]) -> None:
    failed: dict[TopicPartition, OttlaError] = {}
    await admin.alter_partition_reassignments(dict.fromkeys(partitions), errors=failed)
    if failed:
        listed = "\n".join(f"{partition}: {error}" for partition, error in sorted(failed.items()))
        raise TerseError(f"Error cancelling partition reassignment{'' if len(failed) == 1 else 's'} for:\n{listed}")
    plural = "" if len(partitions) == 1 else "s"
    print(f"Successfully cancelled partition reassignment{plural} for: {','.join(map(str, partitions))}")
