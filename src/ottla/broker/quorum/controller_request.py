"""Requests to the active controller, here or across the network: a broker's own, and its clients'.

An errand is asked as often as it takes to find the controller, one attempt after the other, and finished once. How
often, where and for how long is for `controller_channel` to say.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ottla.broker.request.forwarded_request import ForwardedContext, Origin, envelope
from ottla.broker.request.refusal import refuse
from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, DecodeError, ErrorCode, UnknownServerError, error_for
from ottla.protocol.frame import decode_response
from ottla.protocol.messages.envelope import EnvelopeResponse

if TYPE_CHECKING:
    from ottla.broker.request.request_context import RequestContext
    from ottla.broker.request.route import Route

Done = Callable[[Response | ApiError], None]
Heard = Callable[[Response | ApiError], None]


class LocalController(Protocol):
    """The controller of this very process."""

    @property
    def is_active(self) -> bool:
        """Whether it decides now."""
        ...

    def submit(self, request: Request, caller: Caller) -> Answer:
        """Carries out a request."""
        ...

    def route(self, api: ApiKey, version: int) -> "Route | None":
        """The route of a version of a call on the controller listener."""
        ...

    def dispatch(self, context: ForwardedContext, request: Request) -> None:
        """Serves a request as if it had come through the controller listener."""
        ...


class Errand(Protocol):
    """One question to the controller of the moment."""

    is_for_client: bool
    """Whether a client waits for the answer, and may ask this broker next about what it has changed."""

    def request(self) -> Request:
        """The request as it is sent across the network."""
        ...

    def ask_here(self, local: LocalController, heard: Heard) -> None:
        """Asks the controller of this process; `heard` gets its answer, once."""
        ...

    def judge(self, answer: Response) -> Response | ApiError:
        """The answer, or its error; after NOT_CONTROLLER the request goes to another node."""
        ...

    def finish(self, answer: Response | ApiError) -> None:
        """Hands the answer to the caller."""
        ...


class OwnRequest:
    """A request of the broker itself."""

    is_for_client = False

    def __init__(self, request: Request, done: Done) -> None:
        self._request = request
        self._done = done

    def request(self) -> Request:
        return self._request

    def ask_here(self, local: LocalController, heard: Heard) -> None:
        caller = Caller(api_version=type(self._request).valid_versions.highest)
        answer = local.submit(self._request, caller)
        answer.when_done(lambda answer: heard(answer.error or answer.response))

    def judge(self, answer: Response) -> Response | ApiError:
        code: int = getattr(answer, "error_code", ErrorCode.NONE)
        return error_for(code, getattr(answer, "error_message", None)) if code else answer

    def finish(self, answer: Response | ApiError) -> None:
        self._done(answer)


class Forwarding:
    """A client's request, carried out in the client's name and answered to the client."""

    is_for_client = True

    def __init__(self, context: "RequestContext", request: Request) -> None:
        self._context = context
        self._request = request

    def request(self) -> Request:
        return envelope(self._context, self._request)

    def ask_here(self, local: LocalController, heard: Heard) -> None:
        context = self._context
        route = local.route(context.api, context.version)
        if route is None:
            heard(UnknownServerError())
            return
        forwarded = ForwardedContext(route, Origin.of(context), context.exchange, heard, heard)
        local.dispatch(forwarded, self._request)

    def judge(self, answer: Response) -> Response | ApiError:
        if not isinstance(answer, EnvelopeResponse):
            return answer
        if answer.error_code == ErrorCode.NONE and answer.response_data is not None:
            return self._unwrapped(answer.response_data)
        # What else may be wrong with an envelope is nothing that the client could have done better.
        is_telling = answer.error_code in (ErrorCode.NOT_CONTROLLER, ErrorCode.UNSUPPORTED_VERSION)
        return error_for(answer.error_code) if is_telling else UnknownServerError()

    def finish(self, answer: Response | ApiError) -> None:
        context = self._context
        if isinstance(answer, Response):
            context.answer(answer)
            wait_ms: int = getattr(answer, "throttle_time_ms", 0)
            if wait_ms:
                context.connection.throttle(wait_ms)
            return
        if answer.code == ErrorCode.UNSUPPORTED_VERSION:
            # The controller is older than the client believes: a new connection asks for the versions again.
            context.close(f"the controller cannot take {context.api.name} version {context.version}")
            return
        refusal = refuse(self._request, context.version, answer)
        if refusal is None:
            context.close(f"{context.api.name} was refused: {answer}")
        else:
            context.answer(refusal)

    def _unwrapped(self, frame: bytes) -> Response | ApiError:
        try:
            return decode_response(frame, self._context.api, self._context.version)[1]
        except DecodeError:
            return UnknownServerError("the controller's answer cannot be read")
