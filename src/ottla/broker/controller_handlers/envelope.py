"""Envelope (key 58), version 0: a client's request that a broker forwards to the active controller.

The request inside is served as if it had come through this listener, but in the client's name, and its whole answer
travels back inside the envelope's. An error of the envelope itself: NOT_CONTROLLER makes the broker ask again
elsewhere, UNSUPPORTED_VERSION makes it close the client's connection, anything else is the broker's own mistake.

Deviations: none. KIP-590.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.forwarded_request import ForwardedContext, Origin, decode_address, decode_principal
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.api_key import FORWARDED_APIS, ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, DecodeError, InvalidRequestError, UnsupportedVersionError
from ottla.protocol.frame import decode_request, encode_response
from ottla.protocol.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.protocol.messages.header import RequestHeader

_SIZE_BYTES = 4


def handle(parts: ControllerParts, context: RequestContext, request: EnvelopeRequest) -> None:
    """Serves what is inside."""
    principal, is_token = decode_principal(request.request_principal)
    client_host = decode_address(request.client_host_address)
    header, inner = _opened(request.request_data)
    api, version = inner.api, header.request_api_version
    assert parts.pipeline is not None
    route = parts.pipeline.route(api, version)
    if route is None:
        raise UnsupportedVersionError(f"{api.name} version {version} is not served by this controller")

    def answered(response: Response) -> None:
        frame = encode_response(response, version, correlation_id=header.correlation_id)
        context.answer(EnvelopeResponse(response_data=frame[_SIZE_BYTES:]))

    def refused(error: ApiError) -> None:
        context.answer(EnvelopeResponse(error_code=error.code))

    origin = Origin(header.correlation_id, header.client_id or "", principal, client_host, is_token)
    parts.pipeline.dispatch(ForwardedContext(route, origin, context.exchange, answered, refused), inner)


def _opened(data: bytes) -> tuple[RequestHeader, Request]:
    """The request inside; UNSUPPORTED_VERSION if it cannot be read, which tells it from a broken envelope."""
    try:
        header, request = decode_request(data)
    except (DecodeError, InvalidRequestError, UnsupportedVersionError) as error:
        raise UnsupportedVersionError(f"Failed to parse forwarded request: {error}") from error
    if ApiKey(header.request_api_key) not in FORWARDED_APIS:
        raise InvalidRequestError(f"API {request.api.name} is not enabled or is not eligible for forwarding")
    return header, request
