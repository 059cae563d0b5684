"""CreateDelegationToken (key 38), versions 1-3: forwarded to the active controller for those who may ask.

Who did not log in, or did so with a token, gets DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; a token for another user needs
CreateTokens on that user. Refusals name who asked, and for whom; a name without a type is UNKNOWN_SERVER_ERROR, as in
Kafka. KIP-48, KIP-373.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.forwarding import forward
from ottla.broker.security.token_request import creation_refusal
from ottla.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse | None:
    """Refuses, or forwards."""
    refusal = creation_refusal(context, request)
    if refusal is None:
        forward(parts, context, request)
    return refusal
