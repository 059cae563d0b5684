"""Fetch (key 1) on the controller listener, versions 4–18: replicas of the metadata log fetch it from its leader.

The quorum answers, at once or when there is news (long polling). Any other partition than `__cluster_metadata-0` is an
INVALID_REQUEST.

Deviations: none. KIP-595, KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.fetch import FetchRequest


def handle(parts: ControllerParts, context: RequestContext, request: FetchRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
