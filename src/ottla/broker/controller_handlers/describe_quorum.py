"""DescribeQuorum (key 55), versions 0–2: who leads the metadata log, who votes and who watches, and how far each is.

Only the leader knows; others say NOT_LEADER_OR_FOLLOWER, which makes a forwarding broker ask elsewhere. The quorum's
clock never runs backwards and may be ahead of the time of day, if only by a millisecond. Kafka's tool fails on what is
still to come, so no time is later than now.

Deviations: none. KIP-642, KIP-836, KIP-853.
"""

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.definition import Response
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse


def handle(parts: ControllerParts, context: RequestContext, request: DescribeQuorumRequest) -> None:
    """Hands it to the quorum."""

    def answer(response: Response) -> None:
        if isinstance(response, DescribeQuorumResponse):
            keep_to_the_past(response, parts.clock.now_ms())
        context.answer(response)

    parts.raft.request(request, context.version, context.listener, answer)


def keep_to_the_past(response: DescribeQuorumResponse, now_ms: int) -> None:
    """Has no time in the response be later than `now_ms`."""
    for topic in response.topics:
        for partition in topic.partitions:
            for state in (*partition.current_voters, *partition.observers):
                state.last_fetch_timestamp = min(state.last_fetch_timestamp, now_ms)
                state.last_caught_up_timestamp = min(state.last_caught_up_timestamp, now_ms)
