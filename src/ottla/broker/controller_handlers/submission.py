"""Passes a request of the controller listener to the controller or the quorum, and the answer back.

Calls that are an operation of the controller or of the quorum are rows of the API table and come here without a
handler.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.quota.mutation_quota import MutationCharge
from ottla.broker.request.forwarded_request import ForwardedContext
from ottla.broker.request.refusal import refuse
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.throttle import ThrottleKind
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller, unlimited
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError, NotControllerError

Completion = Callable[[Any], Any]
"""From the controller's response to the client's."""


def submit(parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """Has the active controller carry out a request; the answer leaves once what it rests on is committed."""
    answer_with(_as_it_is, parts, context, request)


def answer_with(complete: Completion, parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """Like `submit`, with a change of the controller's response before it leaves."""
    account = None
    throttle = context.route.throttle
    if throttle.kind is ThrottleKind.MUTATION:
        is_strict = context.version >= throttle.strict_since
        user = context.principal.partition(":")[2]
        account = parts.mutation_quotas.account(user, context.client_id, is_strict=is_strict)
        complete = partial(_completed, complete, account)
    caller = Caller(
        api_version=context.version,
        principal=context.principal,
        may=context.rights.may,
        mutation_quota=unlimited if account is None else account.charge,
        through_broker=isinstance(context, ForwardedContext),
    )
    answer = parts.controller.submit(request, caller)
    answer.when_done(partial(_given, complete, context, request))


def ask_quorum(parts: ControllerParts, context: RequestContext, request: Request) -> None:
    """Has the quorum answer a request of its own, now or later."""
    parts.raft.request(request, context.version, context.listener, context.answer)


def _as_it_is(response: Any) -> Any:
    return response


def _completed(complete: Completion, account: MutationCharge, response: Any) -> Any:
    """The client's response, which says how long to wait before the next change."""
    completed = complete(response)
    completed.throttle_time_ms = max(completed.throttle_time_ms, account.wait_ms)
    return completed


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
