"""InitProducerId (key 22), versions 0–5: gives an idempotent producer its id.

Without a transactional id every broker answers, each time with a new id and epoch 0, whatever id the producer had
before. Of id and epoch (v3) both or none are to be given, and a transactional id must not be empty: INVALID_REQUEST.

With a transactional id the transaction coordinator answers (`ottla.coordinator.txn`): an open transaction of an earlier
producer is aborted first, and that one fenced off by a higher epoch.

Deviations: while the controller is away Apache Kafka answers COORDINATOR_LOAD_IN_PROGRESS at once; here a producer
waits for it, up to the time limit of the request to the controller. v6 (KIP-939) is unstable and not served. KIP-98,
KIP-360, KIP-730.
"""

from typing import Final

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.rights import may_transact
from ottla.protocol.acl import CLUSTER_NAME, AclOperation, AclResourceType
from ottla.protocol.errors import (
    ApiError,
    ClusterAuthorizationFailedError,
    InvalidRequestError,
    TransactionalIdAuthorizationFailedError,
)
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_NONE: Final = -1


def handle(
    parts: BrokerParts, context: RequestContext, request: InitProducerIdRequest
) -> InitProducerIdResponse | None:
    """Answers by itself, when there is an id."""
    _check_right(context, request.transactional_id)
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE) or request.transactional_id == "":
        raise InvalidRequestError
    if request.transactional_id is not None:
        coordinators = parts.coordinators
        coordinators.ask_transactions(coordinators.transactions.init_producer_id, context, request)
        return None
    parts.producer_ids.next(_PendingProducerId(context).given)
    return None


def _check_right(context: RequestContext, transactional_id: str | None) -> None:
    rights = context.rights
    if rights.is_unlimited:
        return
    if transactional_id is not None:
        if not may_transact(rights, AclOperation.WRITE, transactional_id):
            raise TransactionalIdAuthorizationFailedError
    elif not rights.may(AclOperation.IDEMPOTENT_WRITE, AclResourceType.CLUSTER, CLUSTER_NAME) and not rights.may_any(
        AclOperation.WRITE, AclResourceType.TOPIC
    ):
        raise ClusterAuthorizationFailedError


class _PendingProducerId:
    """A producer that waits for its id."""

    __slots__ = ("_context",)

    def __init__(self, context: RequestContext) -> None:
        self._context = context

    def given(self, producer_id: int | ApiError) -> None:
        """Answers."""
        if isinstance(producer_id, ApiError):
            refused = InitProducerIdResponse(error_code=int(producer_id.code), producer_epoch=_NONE)
            self._context.answer(refused)
        else:
            self._context.answer(InitProducerIdResponse(producer_id=producer_id, producer_epoch=0))
