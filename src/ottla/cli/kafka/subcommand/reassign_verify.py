"""`kafka-reassign-partitions --verify` and `--list`: how far reassignments are, and their throttles removed."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ottla.base.errors import OttlaError
from ottla.cli.kafka.subcommand.reassign_plan import Plan
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import AlterConfigOp, AlterConfigOpType, ConfigResource, ConfigResourceType
from ottla.client.admin.value.replica import TopicPartitionReplica
from ottla.client.record import TopicPartition
from ottla.protocol.errors import UnknownTopicOrPartitionError

BROKER_THROTTLES: Final = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
TOPIC_THROTTLES: Final = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")


class ReplicaDirs(NamedTuple):
    """Where a replica lies, and where it is being moved to."""

    current: str | None
    future: str | None


async def verify(admin: AsyncAdmin, plan: Plan, *, keep_throttles: bool) -> None:
    """Prints the state of every partition; when nothing is under way any more, the throttles go."""
    under_way = await admin.list_partition_reassignments()
    print("Status of partition reassignment:")
    present = await _present(admin, [partition for partition, _ in plan.parts if partition not in under_way])
    for partition, wanted in sorted(plan.partitions.items()):
        if partition in under_way:
            print(f"Reassignment of partition {partition} is still in progress.")
        elif present.get(partition, ()) == wanted:
            print(f"Reassignment of partition {partition} is completed.")
        else:
            now, then = (",".join(map(str, brokers)) for brokers in (present.get(partition, ()), wanted))
            print(
                f"There is no active reassignment of partition {partition}, "
                f"but replica set is {now} rather than {then}."
            )
    places = await replica_dirs(admin, plan.log_dirs)
    lines = {replica: _move_line(replica, places[replica], path) for replica, path in plan.log_dirs.items()}
    print("\n".join(lines[replica] for replica in in_order(lines)))
    moves = any(place.future is not None or place.current is None for place in places.values())
    if not under_way and not moves and not keep_throttles:
        await clear_throttles(admin, plan)


async def _present(admin: AsyncAdmin, partitions: list[TopicPartition]) -> dict[TopicPartition, tuple[int, ...]]:
    """The brokers of partitions that exist."""
    failed: dict[str, OttlaError] = {}
    topics = await admin.describe_topics({partition.topic for partition in partitions}, errors=failed)
    for error in failed.values():
        if not isinstance(error, UnknownTopicOrPartitionError):
            raise error
    return {
        TopicPartition(topic.name, info.partition): info.replicas
        for topic in topics.values()
        for info in topic.partitions
    }


def in_order(replicas: Iterable[TopicPartitionReplica]) -> list[TopicPartitionReplica]:
    """By broker, then by partition."""
    return sorted(replicas, key=lambda replica: (replica.broker_id, replica.topic, replica.partition))


def shown(replica: TopicPartitionReplica) -> str:
    """As Kafka writes it: topic, partition, broker."""
    return f"{replica.topic}-{replica.partition}-{replica.broker_id}"


async def replica_dirs(
    admin: AsyncAdmin, replicas: Iterable[TopicPartitionReplica]
) -> dict[TopicPartitionReplica, ReplicaDirs]:
    """The directories of replicas."""
    wanted = list(replicas)
    if not wanted:
        return {}
    partitions = dict.fromkeys(TopicPartition(replica.topic, replica.partition) for replica in wanted)
    found = await admin.describe_log_dirs({replica.broker_id for replica in wanted}, partitions)
    places = dict.fromkeys(wanted, ReplicaDirs(None, None))
    for broker, directories in found.items():
        for path, directory in directories.items():
            for partition, info in directory.replicas.items():
                replica = TopicPartitionReplica(*partition, broker)
                if replica in places:
                    place = places[replica]
                    places[replica] = place._replace(future=path) if info.is_future else place._replace(current=path)
    return places


def _move_line(replica: TopicPartitionReplica, place: ReplicaDirs, wanted: str) -> str:
    name, broker = f"{replica.topic}-{replica.partition}", replica.broker_id
    if place.current is None:
        return (
            f"Partition {name} is not found in any live log dir on broker {broker}. "
            "There is likely an offline log directory on the broker."
        )
    if place.future is None:
        if place.current == wanted:
            return f"Reassignment of replica {shown(replica)} completed successfully."
        return f"Partition {name} on broker {broker} is not being moved from log dir {place.current} to {wanted}."
    if place.future == wanted:
        return f"Reassignment of replica {shown(replica)} is still in progress."
    return f"Partition {name} on broker {broker} is being moved to log dir {place.future} instead of {wanted}."


async def clear_throttles(admin: AsyncAdmin, plan: Plan) -> None:
    """Removes every throttle of the brokers and topics that may have been involved."""
    brokers = {node.id for node in (await admin.describe_cluster()).nodes}
    brokers.update(broker for _, replicas in plan.parts for broker in replicas)
    listed = ",".join(map(str, sorted(brokers)))
    print(f"Clearing broker-level throttles on broker{'' if len(brokers) == 1 else 's'} {listed}")
    await admin.incremental_alter_configs(
        {ConfigResource(ConfigResourceType.BROKER, str(broker)): _removed(BROKER_THROTTLES) for broker in brokers}
    )
    topics = sorted({partition.topic for partition, _ in plan.parts})
    print(f"Clearing topic-level throttles on topic{'' if len(topics) == 1 else 's'} {','.join(topics)}")
    await admin.incremental_alter_configs(
        {ConfigResource(ConfigResourceType.TOPIC, topic): _removed(TOPIC_THROTTLES) for topic in topics}
    )


def _removed(names: Iterable[str]) -> list[AlterConfigOp]:
    return [AlterConfigOp(name, op_type=AlterConfigOpType.DELETE) for name in names]


async def print_reassignments(admin: AsyncAdmin) -> None:
    """Prints what is under way."""
    found = await admin.list_partition_reassignments()
    if not found:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for partition, moving in sorted(found.items()):
        parts: Mapping[str, tuple[int, ...]] = {
            "replicas": moving.replicas,
            "adding": moving.adding_replicas,
            "removing": moving.removing_replicas,
        }
        listed = " ".join(f"{name}: {','.join(map(str, brokers))}." for name, brokers in parts.items() if brokers)
        print(f"{partition}: {listed}")
