"""New leaders and ISRs for many partitions at once, when a broker goes, comes or returns from a crash."""

from collections.abc import Iterable
from typing import Final

from ottla.base.frozen import frozen
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.topic.partition_change import PartitionChangeBuilder
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.metadata_log.log import VersionedRecord


@frozen
class BrokerMove:
    """The broker of each kind of change; None for no such change."""

    removed: int | None = None
    """Leaves all ISRs and leads nothing."""
    unclean: int | None = None
    """Leaves all ISRs, and eligible leaders too: its logs may lack what it acknowledged."""


NOBODY_LEAVES: Final = BrokerMove()


def leader_and_isr_updates(
    context: ControllerContext, move: BrokerMove, partitions: Iterable[tuple[TopicImage, list[int]]]
) -> list[VersionedRecord]:
    """The changes of `partitions` that `move` makes necessary.

    Who is alive, and with which directories, is what the context's image says; a broker that comes is there already.
    """
    gone = (move.removed, move.unclean)
    live = {broker.id for broker in context.image.cluster.brokers.values() if broker.is_active}.difference(gone)
    records = []
    for topic, indexes in partitions:
        rules = context.rules_of(topic)
        for index in indexes:
            builder = PartitionChangeBuilder(context, topic, index, rules)
            builder.live_replicas(live.__contains__)
            builder.allow_unclean()
            builder.isr = tuple(replica for replica in builder.isr if replica not in gone)
            if move.unclean is not None:
                builder.unclean_shutdown_replicas = (move.unclean,)
            record = builder.build()
            if record is not None:
                records.append(record)
    return records


def leaderless_partitions(context: ControllerContext) -> list[tuple[TopicImage, list[int]]]:
    """The partitions that wait for a leader, by topic."""
    by_topic: dict[bytes, tuple[TopicImage, list[int]]] = {}
    for topic_id, index in context.index.leaderless():
        entry = by_topic.setdefault(topic_id, (context.image.topics.by_id[topic_id], []))
        entry[1].append(index)
    return list(by_topic.values())
