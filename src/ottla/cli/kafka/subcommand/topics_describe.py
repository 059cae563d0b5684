"""`kafka-topics --describe`: a line per topic and a line per partition, as Kafka prints them."""

from collections.abc import Mapping
from typing import NamedTuple

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.base.java.order import hash_order, string_hash
from ottla.cli.kafka.argument.option import ChosenOptions, ToolError
from ottla.cli.kafka.argument.topic_filter import INTERNAL, TopicFilter
from ottla.cli.kafka.output.identifier import parse_uuid
from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.admin.value.config import ConfigEntry, ConfigResource, ConfigResourceType
from ottla.client.admin.value.replica import PartitionReassignment
from ottla.client.admin.value.topic import PartitionDescription, TopicDescription
from ottla.client.record import TopicPartition
from ottla.protocol.errors import ClusterAuthorizationFailedError, UnsupportedVersionError

Reassignments = Mapping[TopicPartition, PartitionReassignment]


class _Partition(NamedTuple):
    """A partition and what its lines depend on."""

    topic: str
    info: PartitionDescription
    min_isr: int
    reassignment: PartitionReassignment | None

    @property
    def replication_factor(self) -> int:
        """How many replicas it shall have; those that a move adds don't count until it is done."""
        moving = self.reassignment
        if moving is not None and {*moving.adding_replicas, *moving.removing_replicas} & set(self.info.replicas):
            return len(moving.replicas) - len(moving.adding_replicas)
        return len(self.info.replicas)

    def is_wanted(self, options: ChosenOptions, live_brokers: set[int]) -> bool:
        """Whether one of the reports that were asked for is about it; without any, all are shown."""
        leader, isr_count = self.info.leader, len(self.info.isr)
        reports = {
            "under-replicated-partitions": self.replication_factor > isr_count,
            "unavailable-partitions": leader is None or leader not in live_brokers,
            "under-min-isr-partitions": leader is None or isr_count < self.min_isr,
            "at-min-isr-partitions": isr_count == self.min_isr,
        }
        asked = [report for report in reports if options.has(report)]
        return not asked or any(reports[report] for report in asked)

    def line(self) -> str:
        """What is printed about it."""
        info, moving = self.info, self.reassignment
        parts = [
            "",
            f"Topic: {self.topic}",
            f"Partition: {info.partition}",
            f"Leader: {'none' if info.leader is None else info.leader}",
            f"Replicas: {_listed(info.replicas)}",
            f"Isr: {_listed(info.isr)}",
        ]
        if moving is not None:
            parts += [
                f"Adding Replicas: {_listed(moving.adding_replicas)}",
                f"Removing Replicas: {_listed(moving.removing_replicas)}",
            ]
        parts += [f"Elr: {_listed(info.elr)}", f"LastKnownElr: {_listed(info.last_known_elr)}"]
        return "\t".join(parts)


def _listed(brokers: tuple[int, ...] | None) -> str:
    return "N/A" if brokers is None else ",".join(map(str, brokers))


async def describe(admin: AsyncAdmin, options: ChosenOptions) -> None:
    """Prints the topics that are meant, sorted by name."""
    topics = await _described(admin, options)
    if not topics:
        return
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic.name) for topic in topics]
    configs = await admin.describe_configs(resources)
    live_brokers = {node.id for node in (await admin.describe_cluster()).nodes}
    reassignments = await _reassignments(admin, topics)
    for topic, resource in zip(topics, resources, strict=True):
        _print(topic, configs[resource], reassignments, options, live_brokers)


def _print(
    topic: TopicDescription,
    configs: Mapping[str, ConfigEntry],
    reassignments: Reassignments,
    options: ChosenOptions,
    live_brokers: set[int],
) -> None:
    min_isr = int(configs["min.insync.replicas"].value or 1)
    partitions = [
        _Partition(topic.name, info, min_isr, reassignments.get(TopicPartition(topic.name, info.partition)))
        for info in topic.partitions
    ]
    overrides = [
        f"{name}={configs[name].value}" for name in hash_order(configs, string_hash) if not configs[name].is_default
    ]
    reports = any(
        options.has(report)
        for report in (
            "under-replicated-partitions",
            "unavailable-partitions",
            "under-min-isr-partitions",
            "at-min-isr-partitions",
        )
    )
    if not reports and (overrides or not options.has("topics-with-overrides")):
        topic_id = "" if topic.topic_id == ZERO_UUID else f"\tTopicId: {topic.topic_id}"
        print(
            f"Topic: {topic.name}{topic_id}\tPartitionCount: {len(partitions)}"
            f"\tReplicationFactor: {partitions[0].replication_factor}\tConfigs: {','.join(overrides)}"
        )
    if not options.has("topics-with-overrides"):
        for partition in partitions:
            if partition.is_wanted(options, live_brokers):
                print(partition.line())


async def _described(admin: AsyncAdmin, options: ChosenOptions) -> list[TopicDescription]:
    topic_id = _topic_id(options.text("topic-id"))
    limit = options.integer("partition-size-limit-per-response") or 2000
    exclude = options.has("exclude-internal")
    listings = await admin.list_topics(include_internal=not exclude)
    if topic_id is not None:
        if topic_id not in {listing.topic_id for listing in listings.values()}:
            _missing(options, f"TopicId '{topic_id}' does not exist as expected")
            return []
        return list((await admin.describe_topics_by_id([topic_id])).values())
    wanted = options.text("topic")
    names = [name for name in listings if not (exclude and name in INTERNAL)]
    if wanted:
        only = TopicFilter(wanted)
        names = [name for name in names if only.allows(name)]
        if not names:
            _missing(options, f"Topic '{wanted}' does not exist as expected")
    return list((await admin.describe_topics(names, page_partitions=limit)).values())


def _missing(options: ChosenOptions, message: str) -> None:
    if not options.has("if-exists"):
        raise ToolError(message)


def _topic_id(text: str | None) -> Uuid | None:
    if text is None:
        return None
    topic_id = parse_uuid(text)
    return None if topic_id == ZERO_UUID else topic_id


async def _reassignments(admin: AsyncAdmin, topics: list[TopicDescription]) -> Reassignments:
    partitions = [TopicPartition(topic.name, info.partition) for topic in topics for info in topic.partitions]
    try:
        return await admin.list_partition_reassignments(partitions)
    except (UnsupportedVersionError, ClusterAuthorizationFailedError):
        return {}
