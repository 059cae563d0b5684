"""The shapes in which users may hand over listeners and offsets, brought into one."""

from collections.abc import Collection, Mapping, Sequence

from ottla.client.config.settings import no_mapping
from ottla.client.consumer.rebalance_listener import CallableListener, RebalanceListener, Told
from ottla.client.errors import InvalidStateError
from ottla.client.record import OffsetAndMetadata, TopicPartition


def chosen_listener(
    listener: RebalanceListener | None, on_assigned: Told | None, on_revoked: Told | None, on_lost: Told | None
) -> RebalanceListener | None:
    """The listener, or one made of functions."""
    functions = (on_assigned, on_revoked, on_lost)
    if listener is None:
        if not any(functions):
            return None
        return CallableListener(on_assigned=on_assigned, on_revoked=on_revoked, on_lost=on_lost)
    if any(functions):
        raise InvalidStateError("a listener and functions in its place exclude each other")
    return listener


def chosen_offsets(
    offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None,
) -> dict[TopicPartition, OffsetAndMetadata] | None:
    """Plain numbers as offsets without metadata."""
    if offsets is None:
        return None
    given: object = offsets
    if not isinstance(given, Mapping):
        example = 'commit({TopicPartition("orders", 0): 5})'
        raise TypeError(f"commit() takes the next offsets by partition, not {given!r}: write {example}")
    return {
        partition: OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        for partition, offset in offsets.items()
    }


def chosen_partitions(partitions: Collection[TopicPartition]) -> list[TopicPartition]:
    """Pairs as partitions."""
    refuse_one(partitions, "assign")
    return [TopicPartition(*partition) for partition in partitions]


def refuse_one(partitions: Collection[TopicPartition], call: str) -> None:
    """Raises the `TypeError` for one partition in the place of a list, as other clients take it."""
    given: object = partitions
    if isinstance(given, (str, TopicPartition)):
        raise TypeError(
            f'{call}() takes a list of partitions, not {given!r}: write {call}([TopicPartition("orders", 0)])'
        )


def refuse_pattern(topics: Collection[str]) -> None:
    """Raises the error for a pattern among the topics, as confluent-kafka takes it."""
    for topic in topics:
        if topic.startswith("^"):
            raise InvalidStateError(f"{topic!r} is no topic: write subscribe(pattern=re.compile({topic[1:]!r}))")


def refuse_topics(config: object, more: Sequence[object]) -> None:
    """Raises the `TypeError` for `Consumer("orders", "payments")`, where topics are no arguments."""
    if more:
        raise TypeError(no_mapping([config, *more], is_consumer=True))
