"""AlterPartition (key 56), versions 2–3: a leader proposes the in-sync replicas of its partitions.

Deviations: none known; see `ottla.metadata.controller.topic.partition_alteration`. KIP-497, KIP-841, KIP-903.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.alter_partition import AlterPartitionRequest


def handle(parts: ControllerParts, context: RequestContext, request: AlterPartitionRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
