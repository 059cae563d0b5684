"""DescribeDelegationToken (key 41) on the controller listener, versions 1–3: not for clients that nobody knows.

Deviation: Apache Kafka's controller lists the call and answers UNKNOWN_SERVER_ERROR. KIP-48.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest


def handle(parts: ControllerParts, context: RequestContext, request: DescribeDelegationTokenRequest) -> None:
    """Refuses: no listener asks clients to log in yet."""
    raise DelegationTokenRequestNotAllowedError
