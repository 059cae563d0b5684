"""FetchSnapshot (key 59), versions 0–1: a range of bytes of a snapshot of the metadata.

Deviations: none. KIP-630, KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.fetch_snapshot import FetchSnapshotRequest


def handle(parts: ControllerParts, context: RequestContext, request: FetchSnapshotRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
