"""How a request of the controller listener gets to the controller or to the quorum, and its answer back.

Not a handler itself: those whose call is an operation of the controller, or a matter of the quorum's, are one line.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.refusal import refuse
from ottla.broker.request.request_context import RequestContext
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError, NotControllerError

Completion = Callable[[Any], Any]
"""From the controller's response to the client's."""


def submit(parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """Has the active controller carry out a request; the answer leaves once what it rests on is committed."""
    answer_with(_as_it_is, parts, context, request)


def answer_with(complete: Completion, parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """As `submit`, with something done to the controller's response before it leaves."""
    caller = Caller(
        api_version=context.version,
        principal=context.principal,
        through_broker=isinstance(context, ForwardedContext),
    )
    answer = parts.controller.submit(request, caller)
    answer.when_done(partial(_given, complete, context, request))


def ask_quorum(parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """Has the quorum answer a request of its own, now or later."""
    parts.raft.request(request, context.version, context.listener, context.answer)


def _as_it_is(response: Any) -> Any:
    return response


def _given(complete: Completion, context: RequestContext, request: Request, answer: Answer) -> None:
    error = answer.error
    if error is None:
        context.answer(complete(answer.response))
    else:
        _refused(context, request, error)


def _refused(context: RequestContext, request: Request, error: ApiError) -> None:
    if isinstance(context, ForwardedContext) and isinstance(error, NotControllerError):
        context.refuse(error)
        return
    refusal = refuse(request, context.version, error)
    if refusal is None:
        context.close(f"{context.api.name} was refused: {error}")
    else:
        context.answer(refusal)
