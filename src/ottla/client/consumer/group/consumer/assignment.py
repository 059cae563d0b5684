"""Target and owned partitions of a member of a consumer group, by topic id, as the coordinator names them.

A topic that was deleted and created again has a new id: its partitions are given up and taken anew under the same name.
"""

from collections.abc import Mapping

from ottla.base.ids import Uuid
from ottla.client.consumer.group.consumer.event import TopicNames
from ottla.client.consumer.group.effect import AdoptAssignment
from ottla.client.record import TopicPartition
from ottla.protocol.messages.consumer_group_heartbeat import Assignment as WireAssignment

ById = dict[Uuid, frozenset[int]]


def read(assignment: WireAssignment) -> ById:
    """The assignment of a heartbeat's answer."""
    return {each.topic_id: frozenset(each.partitions) for each in assignment.topic_partitions if each.partitions}


class OwnedPartitions:
    """The owned partitions."""

    def __init__(self) -> None:
        self.by_id: ById = {}
        self._names: dict[Uuid, str] = {}

    def partitions(self) -> frozenset[TopicPartition]:
        """The partitions by their topics' names."""
        return _named(self.by_id, self._names)

    def change_to(self, target: Mapping[Uuid, frozenset[int]], names: TopicNames) -> tuple[ById, AdoptAssignment]:
        """The part of the target whose topics have names, and the steps to it."""
        known = {topic: numbers for topic, numbers in target.items() if topic in names}
        kept = {topic: numbers & self.by_id.get(topic, frozenset()) for topic, numbers in known.items()}
        assigned = _named(known, names)
        unchanged = _named(kept, names)
        change = AdoptAssignment(revoked=self.partitions() - unchanged, assigned=assigned, added=assigned - unchanged)
        return known, change

    def adopt(self, owned: ById, names: TopicNames) -> None:
        """The user has taken it over."""
        self.by_id = owned
        self._names = {topic: names[topic] for topic in owned}

    def clear(self) -> None:
        """The user has nothing any more."""
        self.by_id, self._names = {}, {}


def _named(by_id: Mapping[Uuid, frozenset[int]], names: TopicNames) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(names[topic], number) for topic, numbers in by_id.items() for number in numbers)
