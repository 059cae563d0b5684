"""AlterConfigs (key 33) at the controller, versions 0–2: replaces all dynamic configs of resources.

Deviations: none known; see `ottla.metadata.controller.resource.config_request`. KIP-133, KIP-590.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.alter_configs import AlterConfigsRequest


def handle(parts: ControllerParts, context: RequestContext, request: AlterConfigsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
