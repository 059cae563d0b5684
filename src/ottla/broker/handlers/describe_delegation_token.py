"""DescribeDelegationToken (key 41), versions 1-3: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED on every listener there is.

No listener authenticates yet, and Kafka answers the same on plaintext. KIP-48, KIP-373.
"""

from typing import TYPE_CHECKING

from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts
    from ottla.broker.request.request_context import RequestContext


def handle(parts: "BrokerParts", context: "RequestContext", request: DescribeDelegationTokenRequest) -> None:
    """Refuses."""
    raise DelegationTokenRequestNotAllowedError
