"""CreateTopics (key 19) at the controller, versions 2–7: writes topics, their configs and partitions.

Deviations: none known; see `ottla.metadata.controller.topic.topic_creation`. KIP-590.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.create_topics import CreateTopicsRequest


def handle(parts: ControllerParts, context: RequestContext, request: CreateTopicsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
