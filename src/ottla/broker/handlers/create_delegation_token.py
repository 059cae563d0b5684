"""CreateDelegationToken (key 38), versions 1-3: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED on every listener there is.

A token stands for a client that proved who it is, and no listener authenticates yet; Kafka answers the same on
plaintext. The answer names who asked, and for whom; a name without a type is UNKNOWN_SERVER_ERROR. KIP-48, KIP-373.
"""

from typing import TYPE_CHECKING, Final

from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext

NO_TIME: Final = -1


def handle(
    parts: "BrokerParts", context: "RequestContext", request: CreateDelegationTokenRequest
) -> CreateDelegationTokenResponse:
    """Refuses."""
    requester_type, _, requester_name = context.principal.partition(":")
    owner_type, owner_name = requester_type, requester_name
    code = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            code = ErrorCode.UNKNOWN_SERVER_ERROR
        else:
            owner_type, owner_name = request.owner_principal_type, request.owner_principal_name
    response = CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner_type,
        principal_name=owner_name,
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
    )
    if context.version >= 3:
        response.token_requester_principal_type = requester_type
        response.token_requester_principal_name = requester_name
    return response
