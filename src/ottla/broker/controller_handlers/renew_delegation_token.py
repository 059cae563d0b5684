"""RenewDelegationToken (key 39) at the controller, versions 1–2: lets a token live longer.

Refused to clients that did not log in, or did so with a token, as in `create_delegation_token`.

Deviations: none. KIP-48.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.token_request import may_ask
from ottla.protocol.errors import DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest


def handle(parts: ControllerParts, context: RequestContext, request: RenewDelegationTokenRequest) -> None:
    """Hands it to the controller, which knows who may."""
    if not may_ask(context):
        raise DelegationTokenRequestNotAllowedError
    submit(parts, context, request)
