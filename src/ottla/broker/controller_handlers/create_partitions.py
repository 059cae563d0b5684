"""CreatePartitions (key 37) at the controller, versions 0–3: gives topics more partitions.

Deviations: the number of new partitions is limited, see `ottla.metadata.controller.topic.partition_creation`. KIP-195.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest


def handle(parts: ControllerParts, context: RequestContext, request: CreatePartitionsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
