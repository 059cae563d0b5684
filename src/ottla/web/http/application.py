"""The ASGI application of a service: log-in, route, content type, handler, error body, access log, metrics.

Invariants: every request whose sender is still there gets one answer; an error is a JSON body in the type that the
client accepts; an unexpected exception is logged once, with its traceback, and answered with 500.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Final

from ottla.base.frozen import frozen
from ottla.base.metric import MetricRegistry
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.asgi import Receive, Scope, Send
from ottla.web.http.content import ContentTypes, accepted
from ottla.web.http.errors import INTERNAL, NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE, ClientGoneError, HttpError
from ottla.web.http.login import Login, NoLogin
from ottla.web.http.metric import UNROUTED, RequestMetrics
from ottla.web.http.request import BodyLimits, Request
from ottla.web.http.route import Route, Router

_log: Final = logging.getLogger(__name__)
_access: Final = logging.getLogger("ottla.web.access")
_WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH"})


@frozen
class ApplicationOptions:
    """The settings of requests."""

    body_limits: BodyLimits = BodyLimits(16 << 20, 30.0)
    request_timeout_s: float = 120.0
    login: Login = NoLogin()
    logs_requests: bool = True


class ShellApplication:
    """One service as an ASGI application."""

    def __init__(
        self, routes: Sequence[Route], content: ContentTypes, metrics: MetricRegistry, options: ApplicationOptions
    ) -> None:
        self._router: Final = Router(routes)
        self._content: Final = content
        self._options: Final = options
        self._metrics: Final = RequestMetrics(metrics)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI calls: one request."""
        began = time.perf_counter()
        request = Request(scope, receive, self._options.body_limits)
        request.content_type = self._content.answers[0]
        self._metrics.in_flight += 1
        route = UNROUTED
        status = 0
        try:
            found: Route | None = None
            try:
                found, request.parameters = self._router.find(request.method, scope["raw_path"])
                route = found.template
                answer = await self._answer(found, request)
            except HttpError as error:
                answer = self._refusal(error)
            status = answer.status
            await _send(request, answer, send)
        except ClientGoneError:
            return
        except Exception:  # noqa: BLE001 - an edge: a handler's bug must not end the connection without an answer
            _log.exception("%s %s failed", request.method, request.path)
            if not status:
                status = 500
                await _send(request, self._refusal(HttpError(500, INTERNAL)), send)
        finally:
            self._metrics.in_flight -= 1
            self._note(request, route, status, (time.perf_counter() - began) * 1000)

    async def _answer(self, route: Route, request: Request) -> Answer:
        content = route.content or self._content
        chosen = accepted(request.headers.get("accept", ""), content.answers)
        request.content_type = content.answers[0] if chosen is None else chosen
        if not route.is_public:
            principal = self._options.login.principal(request)
            if principal is None:
                return self._unauthorized()
            request.principal = principal
            if chosen is None:
                raise HttpError(406, NOT_ACCEPTABLE)
        if request.method in _WITH_BODY:
            given = request.media_type
            if given and given not in content.requests:
                raise HttpError(415, UNSUPPORTED_MEDIA_TYPE)
        try:
            async with asyncio.timeout(self._options.request_timeout_s):
                return await route.handler(request)
        except TimeoutError:
            raise HttpError(503, f"No answer within {self._options.request_timeout_s:g} s") from None

    def _unauthorized(self) -> Answer:
        body = json_answer({"error_code": 401, "message": "Unauthorized"}).body
        return Answer(401, body, headers={"www-authenticate": self._options.login.challenge})

    def _refusal(self, error: HttpError) -> Answer:
        body = json_answer({"error_code": error.error_code, "message": error.message}).body
        # What is left of a body that was too large or too slow is not worth waiting for.
        headers = {"connection": "close"} if error.status in (408, 413) else {}
        if error.status == 401 and self._options.login.challenge:
            headers["www-authenticate"] = self._options.login.challenge
        return Answer(error.status, body, headers=headers)

    def _note(self, request: Request, route: str, status: int, took_ms: float) -> None:
        self._metrics.answered(request.method, route, status, took_ms)
        if self._options.logs_requests:
            target = request.path
            if request.query_string:
                target = f"{target}?{request.query_string.decode('latin-1')}"
            _access.info(
                '%s %s "%s %s" %s %.1f ms', request.remote, request.principal, request.method, target, status, took_ms
            )


async def _send(request: Request, answer: Answer, send: Send) -> None:
    headers = [(b"content-type", (answer.content_type or request.content_type).encode("latin-1"))]
    if answer.status == 204:
        headers = []
    elif answer.parts is None:
        headers.append((b"content-length", str(len(answer.body)).encode()))
    headers += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    if answer.parts is not None:
        async for part in answer.parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": answer.body})
