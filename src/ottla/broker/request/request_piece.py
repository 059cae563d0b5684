"""Requests that ask the same of very many things: they are put to a coordinator in pieces, and answered as one.

Each piece is a request of its own, with some of the elements, and others have a turn between two of them. Only for
calls whose elements have nothing to do with each other: what one is answered does not depend on which others there are.
"""

import copy
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from ottla.broker.request.request_context import RequestContext, WorkInTurns
from ottla.coordinator.group.gathering import Gathering
from ottla.protocol.definition import Request, Response

PIECE_ELEMENTS: Final = 1_000

Ask: TypeAlias = Callable[[Any, Callable[[Any], None]], None]
"""Puts a request to whoever answers it, now or later."""


class Lists(NamedTuple):
    """The fields of request and response that hold the elements."""

    asked: str
    """The request's field."""
    answered: str
    """The response's field."""
    per_piece: int = PIECE_ELEMENTS
    """How many make a piece; fewer if there is much in each of them."""


def ask_in_pieces(
    context: RequestContext, request: Request, lists: Lists, ask: Ask, done: Callable[[Any], None] | None = None
) -> None:
    """Asks, in several pieces if there are many elements; the whole response is sent, or goes to `done`."""
    finish = context.answer if done is None else done
    asked = getattr(request, lists.asked)
    size = lists.per_piece
    if len(asked) <= size:
        ask(request, finish)
        return
    starts = range(0, len(asked), size)

    def join(answers: list[Response]) -> None:
        whole = answers[0]
        getattr(whole, lists.answered).extend(
            element for answer in answers[1:] for element in getattr(answer, lists.answered)
        )
        finish(whole)

    def work() -> WorkInTurns:
        gathering = Gathering(len(starts), join)
        for place, start in enumerate(starts):
            piece = copy.copy(request)
            setattr(piece, lists.asked, asked[start : start + size])
            ask(piece, gathering.place(place))
            yield
        return None

    context.in_turns(work())
