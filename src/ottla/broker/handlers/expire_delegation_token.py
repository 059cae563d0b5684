"""ExpireDelegationToken (key 40), versions 1-2: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED on every listener there is.

No listener authenticates yet, and Kafka answers the same on plaintext. KIP-48.
"""

from typing import TYPE_CHECKING, Final

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

NO_TIME: Final = -1


def handle(
    parts: "BrokerParts", context: "RequestContext", request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    """Refuses."""
    return ExpireDelegationTokenResponse(
        error_code=ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, expiry_timestamp_ms=NO_TIME
    )
