"""AlterPartitionReassignments (key 45) at the controller, versions 0–1: begins, changes and cancels moves of replicas.

Deviations: see `ottla.metadata.controller.topic.reassignment`. KIP-455, KIP-860.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest


def handle(parts: ControllerParts, context: RequestContext, request: AlterPartitionReassignmentsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
