"""DescribeDelegationToken (key 41) on the controller listener, versions 1–3: as a broker answers it.

Deviation: Apache Kafka's controller lists the call and answers UNKNOWN_SERVER_ERROR. KIP-48.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.token_description import describe_tokens
from ottla.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)


def handle(
    parts: ControllerParts, context: RequestContext, request: DescribeDelegationTokenRequest
) -> DescribeDelegationTokenResponse:
    """Answers from the image."""
    secret = parts.config.optional_string("delegation.token.secret.key")
    return describe_tokens(context, request, parts.metadata.image.delegation_tokens, secret)
