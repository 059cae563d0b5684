"""ExpireDelegationToken (key 40) at the controller, versions 1–2: ends a token, now or later.

Refused to clients that come themselves, as in `create_delegation_token`.

Deviations: none. KIP-48.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest


def handle(parts: ControllerParts, context: RequestContext, request: ExpireDelegationTokenRequest) -> None:
    """Hands it to the controller, unless it came straight over a connection that nobody logged in on."""
    if not isinstance(context, ForwardedContext):
        raise DelegationTokenRequestNotAllowedError
    submit(parts, context, request)
