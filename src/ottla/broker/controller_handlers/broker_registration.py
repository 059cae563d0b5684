"""BrokerRegistration (key 62), versions 0–4: a broker joins the cluster, fenced.

Deviations: the broker of the controller's own process need not wait for the session of its last run. KIP-631.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest


def handle(parts: ControllerParts, context: RequestContext, request: BrokerRegistrationRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
