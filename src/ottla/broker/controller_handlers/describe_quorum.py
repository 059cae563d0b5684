"""DescribeQuorum (key 55), versions 0–2: who leads the metadata log, who votes and who watches, and how far each is.

Only the leader knows; others say NOT_LEADER_OR_FOLLOWER, which makes a forwarding broker ask elsewhere.

Deviations: none. KIP-642, KIP-836, KIP-853.
"""

from ottla.broker.controller_handlers.submission import ask_quorum
from ottla.broker.controller_parts import ControllerParts
from ottla.broker.request_context import RequestContext
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest


def handle(parts: ControllerParts, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Hands it to the quorum."""
    ask_quorum(parts, context, request)
