"""Partitions put together by topic, as most requests want them."""

from collections.abc import Iterable

from ottla.client.record import TopicPartition


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """The partitions of each topic, in the order given.

    >>> by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])["a"]
    [TopicPartition(topic='a', partition=1), TopicPartition(topic='a', partition=0)]
    """
    topics: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        topics.setdefault(partition.topic, []).append(partition)
    return topics


def numbers_by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    """The numbers of the partitions, by topic.

    >>> numbers_by_topic([TopicPartition("a", 1), TopicPartition("b", 0), TopicPartition("a", 0)])
    {'a': [1, 0], 'b': [0]}
    """
    return {topic: [part.partition for part in parts] for topic, parts in by_topic(partitions).items()}
