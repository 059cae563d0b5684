"""ListPartitionReassignments (key 46) at the controller, version 0: the moves of replicas that are under way.

Deviations: none known. KIP-455.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest


def handle(parts: ControllerParts, context: RequestContext, request: ListPartitionReassignmentsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
