"""The delta between two images that no records connect: a snapshot was loaded, or a listener comes late."""

from collections.abc import Callable
from typing import Any, TypeVar

from immutables import Map

from ottla.metadata.image.client_quota import entity_order
from ottla.metadata.image.map_delta import MapDelta
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.metadata.image.topic import TopicImage, TopicsImage
from ottla.metadata.image.topics_delta import TopicDelta, TopicsDelta

K = TypeVar("K", bound=Any)
V = TypeVar("V")


def difference(before: MetadataImage, after: MetadataImage) -> MetadataDelta:
    """The delta from `before` to `after`; applied to `before` it gives an image equal to `after`."""
    delta = MetadataDelta(before)
    levels = after.features.levels()
    old_levels = before.features.levels()
    changed = {name: level for name, level in levels.items() if old_levels.get(name) != level}
    delta.features.changes = {**changed, **dict.fromkeys((name for name in old_levels if name not in levels), 0)}
    _difference(delta.cluster.brokers, after.cluster.brokers)
    _difference(delta.cluster.controllers, after.cluster.controllers)
    _topics_difference(delta.topics, after.topics)
    _difference(delta.configs, after.configs)
    _difference(delta.client_quotas, after.client_quotas, entity_order)
    delta.producer_ids.next_id = after.next_producer_id
    _difference(delta.acls.by_id, after.acls.by_id)
    _difference(delta.acls.ids, after.acls.ids)
    _difference(delta.scram, after.scram)
    _difference(delta.delegation_tokens, after.delegation_tokens)
    return delta


def _difference(delta: MapDelta[K, V], after: Map[K, V], order: Callable[[Any], Any] | None = None) -> None:
    """Always in the same order: that of a hash table differs from run to run, and a run must be repeatable."""
    if delta.base is after:
        return
    for key in sorted((key for key, value in after.items() if delta.base.get(key) != value), key=order):
        delta.set(key, after[key])
    for key in sorted((key for key in delta.base if key not in after), key=order):
        delta.remove(key)


def _topics_difference(delta: TopicsDelta, after: TopicsImage) -> None:
    for topic_id, topic in sorted(delta.base.by_id.items()):
        if topic_id not in after.by_id:
            delta.deleted[topic_id] = topic
    for topic_id, topic in sorted(after.by_id.items()):
        old = delta.base.by_id.get(topic_id)
        if old is topic:
            continue
        if old is None:
            delta.created[topic.name] = topic_id
            old = TopicImage(topic.name, topic_id, ())
        changed = TopicDelta(old)
        changed.changes = {
            index: partition
            for index, partition in enumerate(topic.partitions)
            if changed.partition_before(index) != partition
        }
        if changed.changes or not old.partitions:
            delta.changed[topic_id] = changed
