"""DescribeDelegationToken (key 41), versions 1-3: the tokens that the caller may see, from the newest image.

Who did not log in, or did so with a token, gets DELEGATION_TOKEN_REQUEST_NOT_ALLOWED. KIP-48, KIP-373.
"""

from typing import TYPE_CHECKING

from ottla.broker.security.token_description import describe_tokens
from ottla.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(
    parts: "BrokerParts", context: "RequestContext", request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    """Answers from the image."""
    secret = parts.config.optional_string("delegation.token.secret.key")
    return describe_tokens(context, request, parts.metadata.image.delegation_tokens, secret)
