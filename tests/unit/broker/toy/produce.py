"""A handler that refuses everything."""

from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import ClusterAuthorizationFailedError
from ottla.protocol.messages.produce import ProduceRequest, ProduceResponse


def handle(parts: object, context: RequestContext, request: ProduceRequest) -> ProduceResponse:
    raise ClusterAuthorizationFailedError
