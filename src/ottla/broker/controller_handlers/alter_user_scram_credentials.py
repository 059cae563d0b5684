"""AlterUserScramCredentials (key 51) at the controller, version 0: sets and removes SCRAM credentials of users.

Deviations: both mechanisms of a user may be altered in one request. KIP-554.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest


def handle(parts: ControllerParts, context: RequestContext, request: AlterUserScramCredentialsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
