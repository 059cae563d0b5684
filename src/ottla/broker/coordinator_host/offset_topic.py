"""Which partitions of a request about offsets exist: the group coordinator is asked of these, the others are refused.

OffsetCommit, TxnOffsetCommit and OffsetDelete name topics and partitions alike, and answer with a code for each. What
is refused here comes first in the answer, what the coordinator says is added to it, as in Apache Kafka's answers.
"""

from collections.abc import Generator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.security.rights import Rights, may_topic
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import ErrorCode

A = TypeVar("A", bound="_Topic")


class _Partition(Protocol):
    partition_index: int


class _Topic(Protocol):
    name: str
    partitions: Any


class AnswerTypes(NamedTuple, Generic[A]):
    """The structs of an answer."""

    topic: type[A]
    partition: type[Any]


class SiftedTopics(NamedTuple, Generic[A]):
    """A request's topics, taken apart."""

    existing: list[Any]
    """Of the request's own kind; the request's list itself if nothing had to be left out."""
    refused: list[A]
    """Of the answer's kind."""


def sift(
    metadata: MetadataCache, topics: list[Any], answers: AnswerTypes[A], rights: Rights, *, by_id: bool = False
) -> Generator[None, None, SiftedTopics[A]]:
    """Separates partitions that exist from those that don't, a topic at a step.

    Topics that the client may not read are refused whether they exist or not. A topic that exists and is named without
    partitions is left out. Where topics may go by id, both name and id are there afterwards: an offset is stored with
    both, as in Kafka.
    """
    existing: list[Any] = []
    refused: dict[object, A] = {}
    is_whole = True
    for topic in topics:
        yield
        topic_id = _id(topic)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if topic_id != ZERO_UUID:
            topic.name, unknown = metadata.topic_name(topic_id) or "", ErrorCode.UNKNOWN_TOPIC_ID
        image = metadata.topic(topic.name) if topic.name else None
        if topic.name and not may_topic(rights, AclOperation.READ, topic.name):
            image, unknown = None, ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if image is not None:
            _take_id(image.id, topic)
        count = 0 if image is None else len(image.partitions)
        absent = [found for found in topic.partitions if not 0 <= found.partition_index < count]
        if topic.partitions and not absent:
            existing.append(topic)
            continue
        is_whole = False
        if absent or image is None:
            code = unknown if image is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            _refuse(refused, topic, answers).partitions += [
                answers.partition(partition_index=found.partition_index, error_code=int(code)) for found in absent
            ]
        if len(absent) < len(topic.partitions):
            present = [found for found in topic.partitions if 0 <= found.partition_index < count]
            existing.append(_with_partitions(topic, present))
    return SiftedTopics(topics if is_whole else existing, list(refused.values()))


def merged(refused: list[A], answered: list[A]) -> list[A]:
    """One answer from both; where something is refused, the partitions of a topic stand together."""
    if not refused:
        return answered
    topics: dict[object, A] = {_key(topic): topic for topic in refused}
    for topic in answered:
        first = topics.setdefault(_key(topic), topic)
        if first is not topic:
            first.partitions += topic.partitions
    return list(topics.values())


def _refuse(refused: dict[object, A], topic: _Topic, answers: AnswerTypes[A]) -> A:
    """The refused part of a topic, which may be named more than once."""
    key = _key(topic)
    if key not in refused:
        refused[key] = answers.topic(name=topic.name)  # type: ignore[call-arg]
        _take_id(_id(topic), refused[key])
    return refused[key]


def _with_partitions(topic: Any, partitions: list[Any]) -> Any:
    """A copy of the topic with only these partitions."""
    made = type(topic)(name=topic.name, partitions=partitions)
    _take_id(_id(topic), made)
    return made


def _id(topic: _Topic) -> Uuid:
    """Only OffsetCommit knows topics by id."""
    topic_id: Uuid = getattr(topic, "topic_id", ZERO_UUID)
    return topic_id


def _take_id(topic_id: Uuid, target: Any) -> None:
    if hasattr(target, "topic_id"):
        target.topic_id = topic_id


def _key(topic: _Topic) -> object:
    return _id(topic), topic.name
