"""FindCoordinator (key 10), versions 0–6: which broker coordinates a group or a transactional id.

The answer is the leader of the partition that the key belongs to. The first lookup has the internal topic created;
until it is there and its partition has a leader that the client can reach, COORDINATOR_NOT_AVAILABLE. An unknown kind
of key is INVALID_REQUEST; from v4 on (KIP-699) there may be several keys, or none.

Deviations: share groups are not served, so their keys (type 2) are INVALID_REQUEST in v6, too, as they are below v6
with Apache Kafka. KIP-699, KIP-932.
"""

from typing import Final, NamedTuple

from ottla.broker.coordinator_host.internal_topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.broker.security.rights import may_cluster, may_group, may_transact
from ottla.protocol.acl import AclOperation
from ottla.protocol.definition import Response
from ottla.protocol.errors import CoordinatorNotAvailableError, ErrorCode, InvalidRequestError, error_for
from ottla.protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

_GROUP: Final = 0
_TRANSACTION: Final = 1
_SHARE: Final = 2
_SEVERAL_SINCE: Final = 4
_NO_NODE: Final = -1


class _Found(NamedTuple):
    error: ErrorCode = ErrorCode.NONE
    node_id: int = _NO_NODE
    host: str = ""
    port: int = _NO_NODE


_UNAVAILABLE: Final = _Found(ErrorCode.COORDINATOR_NOT_AVAILABLE)


def handle(parts: BrokerParts, context: RequestContext, request: FindCoordinatorRequest) -> Response | None:
    """Looks all keys up, in turns with others if there are many."""
    if context.version >= _SEVERAL_SINCE:
        return context.in_turns(_find_all(parts, context, request))
    refusal = _refusal(context, request.key_type, request.key)
    if refusal is not None:
        raise error_for(refusal)
    found = _find(parts, context, request.key_type, request.key)
    if found.error is ErrorCode.INVALID_REQUEST:
        raise InvalidRequestError
    if found.error:
        raise CoordinatorNotAvailableError
    # Apache Kafka spells out success in these versions.
    return FindCoordinatorResponse(
        error_message=ErrorCode.NONE.name, node_id=found.node_id, host=found.host, port=found.port
    )


def _find_all(parts: BrokerParts, context: RequestContext, request: FindCoordinatorRequest) -> WorkInTurns:
    response = FindCoordinatorResponse()
    for key in request.coordinator_keys:
        refusal = _refusal(context, request.key_type, key)
        found = _find(parts, context, request.key_type, key) if refusal is None else _Found(refusal)
        response.coordinators.append(_coordinator(key, found))
        yield
    return response


def _refusal(context: RequestContext, key_type: int, key: str) -> ErrorCode | None:
    """Why the client may not know; None if it may."""
    rights = context.rights
    if key_type == _GROUP and not may_group(rights, AclOperation.DESCRIBE, key):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    if key_type == _TRANSACTION and not may_transact(rights, AclOperation.DESCRIBE, key):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if key_type == _SHARE and not may_cluster(rights, AclOperation.CLUSTER_ACTION):
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return None


def _coordinator(key: str, found: _Found) -> Coordinator:
    return Coordinator(key=key, node_id=found.node_id, host=found.host, port=found.port, error_code=int(found.error))


def _find(parts: BrokerParts, context: RequestContext, key_type: int, key: str) -> _Found:
    coordinators = parts.coordinators
    if key_type == _GROUP:
        topic, partition = CONSUMER_OFFSETS, coordinators.groups.partition_for(key)
    elif key_type == _TRANSACTION:
        topic, partition = TRANSACTION_STATE, coordinators.transactions.partition_for(key)
    elif key_type == _SHARE:
        return _Found(ErrorCode.INVALID_REQUEST)
    else:
        raise InvalidRequestError
    metadata = parts.metadata
    if metadata.topic(topic) is None:
        parts.auto_topics.create([topic])
        return _UNAVAILABLE
    registration = metadata.partition(topic, partition)
    if registration is None:
        return _UNAVAILABLE
    endpoint = metadata.endpoint(registration.leader, context.listener, context.connection)
    return _UNAVAILABLE if endpoint is None else _Found(ErrorCode.NONE, registration.leader, *endpoint)
