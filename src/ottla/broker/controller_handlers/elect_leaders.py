"""ElectLeaders (key 43) at the controller, versions 0–2: preferred or unclean elections of partitions.

Deviations: none known; see `ottla.metadata.controller.topic.leader_election`. KIP-460.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest


def handle(parts: ControllerParts, context: RequestContext, request: ElectLeadersRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
