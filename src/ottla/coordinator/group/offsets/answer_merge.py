"""Puts what was refused before the group was asked together with the group's own answer."""

from typing import Any, Protocol, TypeVar


class _Topic(Protocol):
    name: str
    partitions: list[Any]


T = TypeVar("T", bound=_Topic)


def merged_topics(refused: list[T], answered: list[T]) -> list[T]:
    """Both answers, refusals first; a topic that is in both is answered once."""
    if not refused:
        return answered
    by_name = {topic.name: topic for topic in refused if topic.name}
    topics = list(refused)
    for topic in answered:
        same = by_name.get(topic.name)
        if same is None:
            topics.append(topic)
        else:
            same.partitions += topic.partitions
    return topics
