"""SaslAuthenticate (key 36), versions 0–2: one step of a SASL exchange.

On a listener without SASL, and on one whose exchange is over, it comes at the wrong time: ILLEGAL_SASL_STATE. The
connection stays open.

Deviations: none. KIP-152.
"""

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse


def handle(parts: BrokerParts, context: RequestContext, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    """Refuses it: nothing is to be authenticated here."""
    return SaslAuthenticateResponse(
        error_code=int(ErrorCode.ILLEGAL_SASL_STATE),
        error_message="SaslAuthenticate request received after successful authentication",
    )
