"""DeleteTopics (key 20) at the controller, versions 1–6: removes topics, named or by id.

Deviations: none known; see `ottla.metadata.controller.topic.topic_deletion`. KIP-516, KIP-590.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest


def handle(parts: ControllerParts, context: RequestContext, request: DeleteTopicsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
