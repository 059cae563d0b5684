"""A handler that does what the group id tells it to."""

from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import RebalanceInProgressError
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

waiting: list[RequestContext] = []


def handle(parts: dict[str, int], context: RequestContext, request: HeartbeatRequest) -> HeartbeatResponse | None:
    match request.group_id:
        case "refuse":
            raise RebalanceInProgressError
        case "break":
            raise ZeroDivisionError("a bug")
        case "wait":
            waiting.append(context)
            return None
        case "unencodable":
            return HeartbeatResponse(throttle_time_ms=1 << 40)
        case "answer and break":
            context.answer(HeartbeatResponse(throttle_time_ms=1))
            raise ZeroDivisionError("a bug behind the answer")
    return HeartbeatResponse(throttle_time_ms=parts["throttle"])
