"""The assignors that `partition.assignment.strategy` can name, by Kafka's words for them and by Java's class names.

The reader of the setting makes the objects; this module decides which protocol they agree on.
"""

from collections.abc import Callable, Sequence

from ottla.base.errors import OttlaError
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, RebalanceProtocol
from ottla.client.consumer.assignor.range import RangeAssignor
from ottla.client.consumer.assignor.round_robin import RoundRobinAssignor
from ottla.client.consumer.assignor.sticky import CooperativeStickyAssignor, StickyAssignor

BUILT_IN: dict[str, Callable[[], PartitionAssignor]] = {
    assignor.name: assignor
    for assignor in (RangeAssignor, RoundRobinAssignor, StickyAssignor, CooperativeStickyAssignor)
}

JAVA_NAMES = {
    f"org.apache.kafka.clients.consumer.{simple}": name
    for simple, name in (
        ("RangeAssignor", "range"),
        ("RoundRobinAssignor", "roundrobin"),
        ("StickyAssignor", "sticky"),
        ("CooperativeStickyAssignor", "cooperative-sticky"),
    )
}


class AssignorMismatchError(OttlaError):
    """The assignors of one consumer can't work together."""


def built_in(name: str) -> PartitionAssignor:
    """A new assignor by its name or Java's; `AssignorMismatchError` says which there are."""
    known = BUILT_IN.get(JAVA_NAMES.get(name, name))
    if known is None:
        raise AssignorMismatchError(
            f"there is no assignor {name!r}: give one of {', '.join(BUILT_IN)} or an object, class or 'module:Class'"
            " of your own that subclasses PartitionAssignor"
        )
    return known()


def protocol_of(assignors: Sequence[PartitionAssignor]) -> RebalanceProtocol:
    """The most advanced protocol that all support; `AssignorMismatchError` if there is none, or two names clash."""
    names = [assignor.name for assignor in assignors]
    if not names:
        raise AssignorMismatchError("partition.assignment.strategy names no assignor")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise AssignorMismatchError(f"two assignors have the name {', '.join(sorted(twice))}: each needs its own")
    supported = set(RebalanceProtocol).intersection(*(assignor.protocols for assignor in assignors))
    if not supported:
        raise AssignorMismatchError(f"the assignors {', '.join(names)} have no rebalance protocol in common")
    return max(supported, key=lambda protocol: protocol.value)
