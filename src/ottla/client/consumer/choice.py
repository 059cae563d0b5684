"""The shapes in which users may hand over listeners and offsets, brought into one."""

from collections.abc import Mapping

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
    return {
        partition: OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        for partition, offset in offsets.items()
    }
