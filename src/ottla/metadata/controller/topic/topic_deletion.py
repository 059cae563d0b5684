"""DeleteTopics: by name or, from v6 on, by id. A name that the caller may not see is refused whether it exists or not.

A name or id that is there twice is refused and not deleted; the others are. Logs are removed by the brokers that hold
them, after the answer. KIP-4, KIP-516, KIP-599.
"""

from collections import Counter
from collections.abc import Iterator

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult, bounded, message_of
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.errors import (
    ApiError,
    InvalidRequestError,
    TopicAuthorizationFailedError,
    TopicDeletionDisabledError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from ottla.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.topic import RemoveTopicRecord

_DISABLED_KNOWN_SINCE = 3


def delete_topics(
    context: ControllerContext, request: DeleteTopicsRequest, caller: Caller
) -> ControllerResult[DeleteTopicsResponse]:
    """Deletes what is named once and exists; a topic named twice is not deleted at all."""
    if not context.settings.delete_topic_enable:
        if caller.api_version < _DISABLED_KNOWN_SINCE:
            raise InvalidRequestError("This version does not support topic deletion.")
        raise TopicDeletionDisabledError
    wanted = [*(DeleteTopicState(name=name) for name in request.topic_names), *request.topics]
    results = list(_malformed(wanted))
    accepted: dict[Uuid, str] = {}
    for state in _unique(wanted, results):
        try:
            name, topic_id = _find(context, state, caller)
        except ApiError as error:
            results.append(_result(state.name, state.topic_id, error.code, error.message))
            continue
        if topic_id in accepted:
            # An id, and the name of the same topic. Nothing is deleted on such a muddled order.
            del accepted[topic_id]
            message = "The provided topic name maps to an ID that was already supplied."
            results.append(_result(name, topic_id, InvalidRequestError.code, message))
            continue
        accepted[topic_id] = name
    records = []
    for topic_id, name in accepted.items():
        try:
            caller.mutation_quota(len(context.image.topics.by_id[topic_id].partitions))
        except ApiError as error:
            results.append(_result(name, topic_id, error.code, message_of(error)))
            continue
        records.append(VersionedRecord(RemoveTopicRecord(topic_id=topic_id), 0))
        results.append(_result(name, topic_id, 0, None))
    return ControllerResult(DeleteTopicsResponse(responses=results), bounded(records))


def _malformed(wanted: list[DeleteTopicState]) -> Iterator[DeletableTopicResult]:
    for state in wanted:
        if state.name is None and state.topic_id == ZERO_UUID:
            message = "Neither topic name nor id were specified."
            yield _result(None, ZERO_UUID, InvalidRequestError.code, message)
        elif state.name is not None and state.topic_id != ZERO_UUID:
            message = "You may not specify both topic name and topic id."
            yield _result(state.name, state.topic_id, InvalidRequestError.code, message)


def _unique(wanted: list[DeleteTopicState], results: list[DeletableTopicResult]) -> list[DeleteTopicState]:
    """The well-formed ones that are named once, ids before names; a result for each of the others."""
    valid = [state for state in wanted if (state.name is None) != (state.topic_id == ZERO_UUID)]
    counts = Counter((state.name, state.topic_id) for state in valid)
    for (name, topic_id), count in counts.items():
        if count > 1:
            message = "Duplicate topic id." if name is None else "Duplicate topic name."
            results.append(_result(name, topic_id, InvalidRequestError.code, message))
    unique = [state for state in valid if counts[state.name, state.topic_id] == 1]
    return sorted(unique, key=lambda state: state.name is not None)


def _find(context: ControllerContext, state: DeleteTopicState, caller: Caller) -> tuple[str, Uuid]:
    if state.name is None:
        topic = context.image.topics.by_id.get(state.topic_id)
        if topic is None:
            raise UnknownTopicIdError
        if not _may_delete(caller, topic.name):
            if caller.may(AclOperation.DESCRIBE, AclResourceType.TOPIC, topic.name):
                state.name = topic.name
            raise TopicAuthorizationFailedError
        return topic.name, topic.id
    topic_id = context.image.topics.ids.get(state.name)
    may_delete = _may_delete(caller, state.name)
    if topic_id is None and (may_delete or caller.may(AclOperation.DESCRIBE, AclResourceType.TOPIC, state.name)):
        raise UnknownTopicOrPartitionError
    if topic_id is None or not may_delete:
        raise TopicAuthorizationFailedError
    return state.name, topic_id


def _may_delete(caller: Caller, name: str) -> bool:
    return caller.may(AclOperation.DELETE, AclResourceType.CLUSTER, CLUSTER_NAME) or caller.may(
        AclOperation.DELETE, AclResourceType.TOPIC, name
    )


def _result(name: str | None, topic_id: Uuid, code: int, message: str | None) -> DeletableTopicResult:
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=code, error_message=message)
