"""Forwards calls that only the controller can answer, in the client's name (KIP-590).

The broker checks nothing: the controller sees the state that counts. Its answer, or the refusal of the whole request
if no controller is found within a minute, goes back to the client as it is.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ottla.broker.request.request_context import RequestContext
from ottla.broker.security.rights import Rights
from ottla.protocol.definition import Request, Response

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts


def forward(parts: "BrokerParts", context: RequestContext, request: Request) -> None:
    """Has the active controller answer."""
    parts.controller.forward(context, request)


class CompletedContext(RequestContext):
    """Stands in for a client's request of which only a part is forwarded: completes the controller's answer."""

    __slots__ = ("_complete", "_context")

    def __init__(self, context: RequestContext, complete: Callable[[Response], Response]) -> None:
        """`complete` makes the client's answer out of the controller's."""
        super().__init__(context.route, context.correlation_id, context.client_id, context.exchange)
        self._context = context
        self._complete = complete

    @property
    def principal(self) -> str:
        """The client's."""
        return self._context.principal

    @property
    def principal_is_token(self) -> bool:
        """The client's."""
        return self._context.principal_is_token

    @property
    def client_host(self) -> str:
        """The client's."""
        return self._context.client_host

    @property
    def rights(self) -> Rights:
        """The client's."""
        return self._context.rights

    def answer(self, response: Response) -> None:
        """Answers the client, with what the controller did not know of."""
        self._context.answer(self._complete(response))
