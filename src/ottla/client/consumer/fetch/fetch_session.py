"""Incremental fetch sessions (KIP-227): a request names only partitions that changed since the last one.

One session per node, pure. The first request is a full one (epoch 0); if the node grants a session, epochs count up and
requests carry changes; any doubt (an error, a lost connection, topic ids that come or go) starts again with a full one.

wanted {a-0: 5}, granted session 9 -> wanted {a-0: 8, b-0: 0}: epoch 1 with both -> wanted {b-0: 0}: epoch 2, nothing
but a-0 to forget.
"""

from dataclasses import field
from typing import Final, NamedTuple

from ottla.base.frozen import frozen
from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.record import TopicPartition
from ottla.protocol.messages.fetch import FetchPartition, FetchResponse, FetchTopic, ForgottenTopic

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
LAST_VERSION_BY_NAME: Final = 12
"""Later versions of Fetch name topics by their ids."""
_EPOCH_MAX: Final = 2**31 - 1


class FetchTarget(NamedTuple):
    """Where to fetch a partition from."""

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


class FetchSession:
    """The session with one node."""

    def __init__(self) -> None:
        self.session_id = NO_SESSION
        self._epoch = INITIAL_EPOCH
        self._sent: dict[TopicPartition, FetchTarget] = {}
        self._uses_topic_ids = True

    @property
    def is_open(self) -> bool:
        """Whether the node keeps a session for us."""
        return self.session_id != NO_SESSION

    def request(self, wanted: dict[TopicPartition, FetchTarget]) -> SessionRequest:
        """The request that fetches exactly `wanted`."""
        uses_topic_ids = all(target.topic_id != ZERO_UUID for target in wanted.values())
        if uses_topic_ids != self._uses_topic_ids:
            self._uses_topic_ids = uses_topic_ids
            self._epoch = INITIAL_EPOCH
        if self._epoch == INITIAL_EPOCH:
            changed, forgotten = wanted, {}
        else:
            sent = self._sent
            # A topic made anew under its old name: the node has to forget the old id first.
            forgotten = {
                partition: target
                for partition, target in sent.items()
                if partition not in wanted or wanted[partition].topic_id != target.topic_id
            }
            changed = {partition: target for partition, target in wanted.items() if sent.get(partition) != target}
        self._sent = dict(wanted)
        return SessionRequest(
            self.session_id, self._epoch, _by_topic(changed), _forgotten_by_topic(forgotten), uses_topic_ids
        )

    def end(self) -> SessionRequest:
        """The request that ends the session."""
        return SessionRequest(self.session_id, FINAL_EPOCH)

    def answered(self, response: FetchResponse) -> None:
        """The request was answered without an error at the top."""
        if self._epoch == INITIAL_EPOCH:
            self.session_id = response.session_id
        if self.session_id == NO_SESSION:
            self._epoch = INITIAL_EPOCH
        else:
            self._epoch = 1 if self._epoch == _EPOCH_MAX else self._epoch + 1

    def failed(self) -> None:
        """The request was refused or lost: the next one is a full one, which also ends the session that was."""
        self._epoch = INITIAL_EPOCH

    def forget(self) -> None:
        """The node does not know the session."""
        self.session_id = NO_SESSION
        self._epoch = INITIAL_EPOCH


def without_session(wanted: dict[TopicPartition, FetchTarget]) -> SessionRequest:
    """A single request, for which the node keeps nothing in mind."""
    uses_topic_ids = all(target.topic_id != ZERO_UUID for target in wanted.values())
    return SessionRequest(NO_SESSION, FINAL_EPOCH, _by_topic(wanted), uses_topic_ids=uses_topic_ids)


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
