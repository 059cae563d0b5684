"""RenewDelegationToken (key 39), versions 1-2: forwarded to the active controller for those who may ask.

Who did not log in, or did so with a token, gets DELEGATION_TOKEN_REQUEST_NOT_ALLOWED; whose token it is the controller
knows. KIP-48.
"""

from typing import TYPE_CHECKING

from ottla.broker.handlers.forwarding import forward
from ottla.broker.security.token_request import NO_TIME, may_ask
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse | None:
    """Refuses, or forwards."""
    if may_ask(context):
        forward(parts, context, request)
        return None
    return RenewDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=NO_TIME
    )
