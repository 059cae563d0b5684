"""SaslHandshake (key 17), versions 0–1: names the SASL mechanism, before a connection is authenticated.

On a listener without SASL, and on one whose exchange is over, it comes at the wrong time: ILLEGAL_SASL_STATE, with no
mechanisms. The connection stays open.

Deviations: none. KIP-43.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse


def handle(parts: BrokerParts, context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    """Refuses it: nothing is to be authenticated here."""
    return SaslHandshakeResponse(error_code=int(ErrorCode.ILLEGAL_SASL_STATE))
