"""CreateDelegationToken (key 38) at the controller, versions 1–3: issues a token to log in with.

Who forwards has seen to it that the client may ask; a client that comes itself must have logged in, which no listener
asks for yet: DELEGATION_TOKEN_REQUEST_NOT_ALLOWED.

Deviations: none. KIP-48, KIP-373.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.create_delegation_token import CreateDelegationTokenRequest


def handle(parts: ControllerParts, context: RequestContext, request: CreateDelegationTokenRequest) -> None:
    """Hands it to the controller, unless it came straight over a connection that nobody logged in on."""
    if not isinstance(context, ForwardedContext):
        raise DelegationTokenRequestNotAllowedError
    submit(parts, context, request)
