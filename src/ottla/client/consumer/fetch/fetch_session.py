"""Writes a consumer's Fetch requests, within a session with a node (`ottla.protocol.fetch_session`) or without one.

A session is by topic id or by name: a topic that has no id, as on old brokers, makes the session one by name, which
begins with a full request.
"""

from dataclasses import field
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.record import TopicPartition
from ottla.protocol.fetch_session import FINAL_EPOCH, NO_SESSION, SessionReader
from ottla.protocol.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic

LAST_VERSION_BY_NAME: Final = 12
"""Later versions of Fetch name topics by their ids."""


class FetchTarget(NamedTuple):
    """The offset and epoch from which to fetch a partition."""

    offset: int
    leader_epoch: int
    topic_id: Uuid
    bytes_max: int


@frozen
class SessionRequest:
    """The part of a Fetch request that is about the session."""

    session_id: int
    epoch: int
    topics: list[FetchTopic] = field(default_factory=list)
    forgotten: list[ForgottenTopic] = field(default_factory=list)
    uses_topic_ids: bool = True


class FetchSession(SessionReader[TopicPartition, FetchTarget]):
    """The session with one node."""

    def __init__(self) -> None:
        super().__init__()
        self._uses_topic_ids = True

    @property
    def is_open(self) -> bool:
        """Whether the node keeps a session for us."""
        return self.session_id != NO_SESSION

    def request(self, wanted: dict[TopicPartition, FetchTarget]) -> SessionRequest:
        """The request by which all of `wanted` is fetched, and nothing else."""
        uses_topic_ids = _have_ids(wanted)
        if uses_topic_ids != self._uses_topic_ids:
            self._uses_topic_ids = uses_topic_ids
            self.failed()
        changed, forgotten = self.changes(wanted)
        return SessionRequest(
            self.session_id, self.epoch, _by_topic(changed), _forgotten_by_topic(forgotten), uses_topic_ids
        )

    def end(self) -> SessionRequest:
        """The request that ends the session."""
        return SessionRequest(self.session_id, FINAL_EPOCH)


def without_session(wanted: dict[TopicPartition, FetchTarget]) -> SessionRequest:
    """A single request, for which the node keeps nothing in mind."""
    return SessionRequest(NO_SESSION, FINAL_EPOCH, _by_topic(wanted), uses_topic_ids=_have_ids(wanted))


def _have_ids(wanted: dict[TopicPartition, FetchTarget]) -> bool:
    return all(target.topic_id != ZERO_UUID for target in wanted.values())


def _by_topic(partitions: dict[TopicPartition, FetchTarget]) -> list[FetchTopic]:
    topics: dict[str, FetchTopic] = {}
    for (name, index), target in partitions.items():
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = FetchTopic(topic=name, topic_id=target.topic_id, partitions=[])
        topic.partitions.append(
            FetchPartition(
                partition=index,
                current_leader_epoch=target.leader_epoch,
                fetch_offset=target.offset,
                partition_max_bytes=target.bytes_max,
            )
        )
    return list(topics.values())


def _forgotten_by_topic(partitions: dict[TopicPartition, FetchTarget]) -> list[ForgottenTopic]:
    topics: dict[tuple[str, Uuid], ForgottenTopic] = {}
    for (name, index), target in partitions.items():
        key = (name, target.topic_id)
        if key not in topics:
            topics[key] = ForgottenTopic(topic=name, topic_id=target.topic_id, partitions=[])
        topics[key].partitions.append(index)
    return list(topics.values())
