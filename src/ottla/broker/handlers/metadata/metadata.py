"""Metadata (key 3), versions 0-13: brokers, topics and leaders, from the newest image.

Topics by name, by id (v12+, names beside ids are ignored), all (null; in v0 an empty list) or none. A topic that is
missing is created if client and broker allow it, and answered with UNKNOWN_TOPIC_OR_PARTITION until it is there. Each
listener sees the addresses registered for it. The controller is a random live broker: all of them forward (KIP-590).

Deviations: the answer to a request is kept, encoded, until a broker or topic changes, so the same controller is named
until then; an empty name is INVALID_TOPIC_EXCEPTION also where the operations on it are asked for, for which Apache
Kafka fails the whole request; a topic that this broker is about to lead is told once it does, so that the first
produce is not refused. KIP-4, KIP-430, KIP-516, KIP-526, KIP-590.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.coordinator_host.internal_topic import is_internal
from ottla.broker.request.metadata.authorized_operation import NOT_ASKED, cluster_operations, topic_operations
from ottla.broker.request.metadata.auto_topic import error_of_missing
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.request.request_context import encoded_in_turns
from ottla.broker.security.rights import Rights, may_topic, sees_topic
from ottla.metadata.image.partition import NO_LEADER, PartitionRegistration
from ottla.metadata.image.topic import TopicImage
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.errors import ErrorCode, InvalidRequestError, UnknownServerError
from ottla.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext, WorkInTurns

PREPARED_REQUEST_BYTES_MAX: Final = 16 * 1024
"""Requests that name more than this many bytes of topics are answered afresh: few send the same one twice."""
_CREATED_MAX: Final = 1_000
"""Of more missing topics the others are created when the client asks again, which it does until they are there."""
_SETUP_SECONDS_MAX: Final = 0.5
_BY_ID: Final = 12
_LISTENER_ERRORS: Final = 6
_OPERATIONS: Final = 8
_CLUSTER_OPERATIONS_MAX: Final = 10

_Operations: TypeAlias = Callable[[str], int]
"""The allowed operations on a topic, as a bit field."""


def prepared(parts: "BrokerParts", context: "RequestContext", body: memoryview) -> bytes | None:
    """The body of the answer to an equal request, if nothing has changed since."""
    if len(body) > PREPARED_REQUEST_BYTES_MAX:
        return None
    cache = parts.metadata
    return cache.prepared(cache.prepared_key(context.version, bytes(body), context.connection, context.rights.token))


def handle(parts: "BrokerParts", context: "RequestContext", request: MetadataRequest) -> None:
    """Answers from the image, when this broker serves what the image says it does."""
    wanted = _Wanted(request, context.version)
    if not wanted.all_topics and _is_ahead(parts, wanted):
        _SettingUp(parts, lambda: context.in_turns(_answer(parts, context, request, wanted))).wait()
    else:
        context.in_turns(_answer(parts, context, request, wanted))


def _answer(
    parts: "BrokerParts", context: "RequestContext", request: MetadataRequest, wanted: "_Wanted"
) -> "WorkInTurns":
    """Answers, and keeps the answer where the next equal request may get it; in turns with others if it is long."""
    version = context.version
    cache = parts.metadata
    image = cache.image
    rights = context.rights
    token = rights.token
    found, missing = _found(cache, wanted)
    found, missing, hidden = yield from _permitted(found, missing, wanted, rights)
    describer = _Describer(cache, context.listener, version)
    operations = _operations(rights) if request.include_topic_authorized_operations else None
    topics = yield from describer.topics(found, operations)
    creates = bool(missing) and request.allow_auto_topic_creation and _auto_creates(parts)
    yield
    if creates:
        missing, forbidden = _creatable(missing, rights)
        parts.auto_topics.create(missing[:_CREATED_MAX])
        hidden += [_forbidden_topic(name, operations) for name in forbidden]
    for name in missing:
        topics.append(_missing_topic(name, error_of_missing(name), operations))
        yield
    unknown = yield from _unknown_ids(cache, wanted.ids)
    response = MetadataResponse(
        brokers=_brokers(cache, context),
        cluster_id=parts.cluster_id,
        controller_id=cache.controller_id,
        topics=[*unknown, *topics, *hidden],
        cluster_authorized_operations=_cluster_operations(request, context),
    )
    body = yield from encoded_in_turns(response.plan(version), response)
    if not creates and cache.image is image:
        asked = request.encode(version)
        if len(asked) <= PREPARED_REQUEST_BYTES_MAX:
            cache.prepare(cache.prepared_key(version, asked, context.connection, token), body)
    context.answer_encoded(body)
    return None


def _is_ahead(parts: "BrokerParts", wanted: "_Wanted") -> bool:
    """Whether the image names this broker as a leader of partitions that it has not set up yet."""
    replicas, image = parts.replicas, parts.metadata.image
    if replicas.applied_offset >= image.provenance.offset:
        return False
    for topic in _found(parts.metadata, wanted)[0]:
        for index, registration in enumerate(topic.partitions):
            if registration.leader == parts.node_id:
                partition = replicas.get(topic.name, index)
                if partition is None or not partition.is_leader:
                    return True
    return False


class _SettingUp:
    """A request that waits for partitions to be set up: mostly some milliseconds, and never long."""

    def __init__(self, parts: "BrokerParts", answer: Callable[[], object]) -> None:
        self._parts: Final = parts
        self._answer: Callable[[], object] | None = answer

    def wait(self) -> None:
        """Answers when the newest image is in force here, or when it takes too long."""
        self._parts.loop.call_later(_SETUP_SECONDS_MAX, self._go_on)
        self._parts.replicas.when_applied(self._parts.metadata.image.provenance.offset, self._go_on)

    def _go_on(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()


class _Wanted:
    """The topics of a request: all, by id, or by name."""

    __slots__ = ("all_topics", "ids", "names")

    def __init__(self, request: MetadataRequest, version: int) -> None:
        topics = request.topics
        self.all_topics = topics is None or (version == 0 and not topics)
        self.ids: list[Uuid] = []
        self.names: list[str] = []
        if not topics:
            return
        if version < _BY_ID:
            _check_named(topics, version)
        self.ids = list(dict.fromkeys(topic.topic_id for topic in topics if topic.topic_id != ZERO_UUID))
        if not self.ids:
            self.names = list(dict.fromkeys(_name(topic) for topic in topics))


def _check_named(topics: Sequence[MetadataRequestTopic], version: int) -> None:
    for topic in topics:
        if topic.name is None:
            raise InvalidRequestError(f"Topic name can not be null for version {version}")
        if topic.topic_id != ZERO_UUID:
            raise InvalidRequestError(f"Topic IDs are not supported in requests for version {version}")


def _name(topic: MetadataRequestTopic) -> str:
    if topic.name is None:
        # Neither a name nor an id: Kafka has no better word for it.
        raise UnknownServerError
    return topic.name


def _auto_creates(parts: "BrokerParts") -> bool:
    return parts.dynamic.current.boolean("auto.create.topics.enable")


def _found(cache: MetadataCache, wanted: _Wanted) -> tuple[list[TopicImage], list[str]]:
    """The wanted topics that are there, and the names of those that are not."""
    topics = cache.image.topics
    if wanted.all_topics:
        return list(topics.by_id.values()), []
    if wanted.ids:
        return [topics.by_id[topic_id] for topic_id in wanted.ids if topic_id in topics.by_id], []
    named = [(name, topics.topic(name)) for name in wanted.names]
    return [topic for _, topic in named if topic is not None], [name for name, topic in named if topic is None]


class _Describer:
    """Describes topics to the clients of one listener in one version."""

    def __init__(self, cache: MetadataCache, listener: str, version: int) -> None:
        self._view = cache.view(listener)
        self._brokers = cache.image.cluster.brokers
        self._is_usual = version >= _LISTENER_ERRORS
        self._is_oldest = version == 0
        self._unreachable = ErrorCode.LISTENER_NOT_FOUND if self._is_usual else ErrorCode.LEADER_NOT_AVAILABLE

    def topics(
        self, topics: list[TopicImage], operations: "_Operations | None"
    ) -> Generator[None, None, list[MetadataResponseTopic]]:
        """Topics that exist; at each `yield` others may have a turn."""
        found: list[MetadataResponseTopic] = []
        described, describe = self._view.described, self._topic
        for topic in topics:
            if operations is not None:
                found.append(self._topic(topic, operations(topic.name)))
            elif self._is_usual:
                found.append(described(topic, describe))
            else:
                found.append(self._topic(topic))
            yield
        return found

    def _topic(self, topic: TopicImage, operations: int = NOT_ASKED) -> MetadataResponseTopic:
        describe = self._partition_of_v0 if self._is_oldest else self._any_partition
        return MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=is_internal(topic.name),
            partitions=[describe(index, partition) for index, partition in enumerate(topic.partitions)],
            topic_authorized_operations=operations,
        )

    def _any_partition(self, index: int, partition: PartitionRegistration) -> MetadataResponsePartition:
        leader = partition.leader
        error = 0 if self._view.reaches(leader) else self._leader_error(leader)
        return MetadataResponsePartition(
            error_code=error,
            partition_index=index,
            leader_id=NO_LEADER if error else leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            offline_replicas=self._view.offline_replicas(partition),
        )

    def _partition_of_v0(self, index: int, partition: PartitionRegistration) -> MetadataResponsePartition:
        """The oldest clients look up every replica among the brokers: those they would not find are left out."""
        described = self._any_partition(index, partition)
        alive = self._view.alive
        described.replica_nodes = [replica for replica in partition.replicas if replica in alive]
        described.isr_nodes = [replica for replica in partition.isr if replica in alive]
        is_whole = len(described.replica_nodes) == len(partition.replicas) and len(described.isr_nodes) == len(
            partition.isr
        )
        if not described.error_code and not is_whole:
            described.error_code = ErrorCode.REPLICA_NOT_AVAILABLE
        return described

    def _leader_error(self, leader: int) -> ErrorCode:
        return self._unreachable if leader in self._brokers else ErrorCode.LEADER_NOT_AVAILABLE


def _missing_topic(name: str, error: ErrorCode, operations: _Operations | None) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=error,
        name=name,
        is_internal=is_internal(name),
        topic_authorized_operations=NOT_ASKED if operations is None else operations(name),
    )


def _operations(rights: Rights) -> _Operations:
    return lambda topic: topic_operations(rights, topic)


def _permitted(
    found: list[TopicImage], missing: list[str], wanted: _Wanted, rights: Rights
) -> Generator[None, None, tuple[list[TopicImage], list[str], list[MetadataResponseTopic]]]:
    """Of the topics that were found and not found those that the client may see, and what it is told of the others.

    Whether a topic exists is not told to those who may not see it. Where all were asked for they are left out.
    """
    if rights.is_unlimited:
        return found, missing, []
    describe = AclOperation.DESCRIBE
    # In the audit log it counts for something whether a topic was asked for by its name.
    is_permitted = sees_topic if wanted.all_topics else may_topic
    seen: list[TopicImage] = []
    for topic in found:
        if is_permitted(rights, describe, topic.name):
            seen.append(topic)
        yield
    if wanted.all_topics:
        return seen, missing, []
    known = {topic.name for topic in seen}
    if wanted.ids:
        hidden = [topic.id for topic in found if topic.name not in known]
        code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return seen, [], [MetadataResponseTopic(error_code=code, name=None, topic_id=each) for each in hidden]
    absent = [name for name in missing if may_topic(rights, describe, name)]
    shown = known.union(absent)
    return seen, absent, [_hidden_topic(name) for name in wanted.names if name not in shown]


def _hidden_topic(name: str) -> MetadataResponseTopic:
    return MetadataResponseTopic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name)


def _creatable(missing: list[str], rights: Rights) -> tuple[list[str], list[str]]:
    """The missing topics that the client may have created, and the others."""
    create = AclOperation.CREATE
    if rights.is_unlimited or rights.sees(create, AclResourceType.CLUSTER, CLUSTER_NAME):
        return missing, []
    allowed = [name for name in missing if may_topic(rights, create, name)]
    return allowed, [name for name in missing if name not in set(allowed)]


def _forbidden_topic(name: str, operations: _Operations | None) -> MetadataResponseTopic:
    """A topic that the client may see, were it there, but not have created."""
    return _missing_topic(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED, operations)


def _unknown_ids(cache: MetadataCache, ids: list[Uuid]) -> Generator[None, None, list[MetadataResponseTopic]]:
    known = cache.image.topics.by_id
    unknown = []
    for topic_id in ids:
        if topic_id not in known:
            code = ErrorCode.UNKNOWN_TOPIC_ID
            unknown.append(MetadataResponseTopic(error_code=code, name=None, topic_id=topic_id))
            yield
    return unknown


def _brokers(cache: MetadataCache, context: "RequestContext") -> list[MetadataResponseBroker]:
    return [
        MetadataResponseBroker(node_id=broker.id, host=broker.host, port=broker.port, rack=broker.rack)
        for broker in cache.alive_brokers(context.listener, context.connection)
    ]


def _cluster_operations(request: MetadataRequest, context: "RequestContext") -> int:
    asked = request.include_cluster_authorized_operations and _OPERATIONS <= context.version <= _CLUSTER_OPERATIONS_MAX
    return cluster_operations(context.rights) if asked else NOT_ASKED
