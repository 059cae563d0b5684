"""`kafka-reassign-partitions --generate`: proposes an even assignment of topics to brokers, and does nothing."""

from random import Random

from ottla.base.errors import OttlaError
from ottla.cli.kafka.argument.option import ToolError
from ottla.cli.kafka.subcommand.reassign_plan import duplicates, parse_topics, render_plan
from ottla.cli.kafka.subcommand.reassign_verify import replica_dirs
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.replica import TopicPartitionReplica
from ottla.client.record import TopicPartition
from ottla.metadata.placement import ReplicaPlacer, UsableBroker
from ottla.protocol.errors import InvalidReplicationFactorError, UnknownTopicOrPartitionError


async def generate(admin: AsyncAdmin, topics_text: str, brokers_text: str, *, by_rack: bool) -> None:
    """Prints the present assignment and a proposal."""
    brokers = _brokers(brokers_text)
    topics = parse_topics(topics_text)
    twice = duplicates(topics)
    if twice:
        raise ToolError(f"List of topics to reassign contains duplicate entries: [{', '.join(map(str, twice))}]")
    current = await _assignment(admin, topics)
    places = await replica_dirs(
        admin, [TopicPartitionReplica(*part, one) for part, replicas in current.items() for one in replicas]
    )
    usable = await _usable(admin, brokers, by_rack=by_rack)
    try:
        proposed = _proposal(current, usable)
    except InvalidReplicationFactorError as error:
        # Found here and not by a server: Java prints no class for it.
        raise ToolError(str(error)) from error
    log_dirs = {replica: place.current for replica, place in places.items() if place.current is not None}
    print(f"Current partition replica assignment\n{render_plan(current, log_dirs)}\n")
    print(f"Proposed partition reassignment configuration\n{render_plan(proposed, {})}")


def _brokers(text: str) -> list[int]:
    try:
        brokers = [int(broker) for broker in text.split(",")]
    except ValueError:
        wrong = next(broker for broker in text.split(",") if not broker.isdecimal())
        raise ToolError(f'For input string: "{wrong}"') from None
    twice = duplicates(brokers)
    if twice:
        raise ToolError(f"Broker list contains duplicate entries: [{', '.join(map(str, twice))}]")
    return brokers


async def _assignment(admin: AsyncAdmin, topics: list[str]) -> dict[TopicPartition, tuple[int, ...]]:
    failed: dict[str, OttlaError] = {}
    found = await admin.describe_topics(topics, errors=failed)
    for topic, error in failed.items():
        if isinstance(error, UnknownTopicOrPartitionError):
            raise UnknownTopicOrPartitionError(f"Topic {topic} not found.")
        raise error
    return {
        TopicPartition(topic.name, info.partition): info.replicas
        for topic in found.values()
        for info in topic.partitions
    }


async def _usable(admin: AsyncAdmin, brokers: list[int], *, by_rack: bool) -> list[UsableBroker]:
    nodes = [node for node in (await admin.describe_cluster()).nodes if node.id in brokers]
    racks = {node.rack is None for node in nodes}
    if by_rack and len(racks) > 1:
        raise ToolError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    return [UsableBroker(node.id, node.rack if by_rack else None, fenced=False) for node in nodes]


def _proposal(
    current: dict[TopicPartition, tuple[int, ...]], usable: list[UsableBroker]
) -> dict[TopicPartition, list[int]]:
    """Topic by topic, as many replicas as its first partition has."""
    proposal: dict[TopicPartition, list[int]] = {}
    for topic in dict.fromkeys(partition.topic for partition in current):
        numbers = sorted(partition.partition for partition in current if partition.topic == topic)
        factor = len(current[TopicPartition(topic, numbers[0])])
        placer = ReplicaPlacer(usable, Random())
        for number in numbers:
            proposal[TopicPartition(topic, number)] = list(placer.place(factor))
    return proposal
