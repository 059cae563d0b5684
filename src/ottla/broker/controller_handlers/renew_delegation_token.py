"""RenewDelegationToken (key 39) at the controller, versions 1–2: lets a token live longer.

Refused to clients that come themselves, as in `create_delegation_token`.

Deviations: none. KIP-48.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest


def handle(parts: ControllerParts, context: RequestContext, request: RenewDelegationTokenRequest) -> None:
    """Hands it to the controller, unless it came straight over a connection that nobody logged in on."""
    if not isinstance(context, ForwardedContext):
        raise DelegationTokenRequestNotAllowedError
    submit(parts, context, request)
