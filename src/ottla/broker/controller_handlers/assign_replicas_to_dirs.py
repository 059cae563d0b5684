"""AssignReplicasToDirs (key 73), version 0: a broker tells in which log directories its replicas lie.

Deviations: none known. KIP-858.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest


def handle(parts: ControllerParts, context: RequestContext, request: AssignReplicasToDirsRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
