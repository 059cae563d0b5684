"""One request on its way to its answer.

Answers leave in the order in which the requests came, whatever the order in which they are given. Everything here
runs on the loop's thread. What is answered after its connection has gone is dropped without a word.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ottla.net.piece import Piece

if TYPE_CHECKING:
    from ottla.net.connection import Connection

GONE: Final[tuple[Piece, ...]] = ()
"""The pieces of an exchange whose answer was handed on, or whose connection is gone."""


class Exchange:
    """A request that waits for its answer. Exactly one of `answer`, `no_answer` and `close` ends it."""

    __slots__ = ("connection", "holds_up", "pieces")

    def __init__(self, connection: "Connection") -> None:
        self.connection = connection
        self.pieces: Sequence[Piece] | None = None
        """The answer while it waits for earlier ones; None before it is given."""
        self.holds_up = True
        """Whether the connection handles no other request before this one is answered."""

    @property
    def is_done(self) -> bool:
        """Whether it was answered, or can't be any more because its connection is gone."""
        return self.pieces is not None

    def answer(self, pieces: Sequence[Piece]) -> None:
        """Answers with a whole response frame, its size included; leaves once all earlier requests are answered."""
        self.connection.answered(self, pieces)

    def no_answer(self) -> None:
        """Ends the exchange without an answer: Produce with acks=0."""
        self.connection.answered(self, GONE)

    def proceed(self) -> None:
        """Lets the connection handle its next request before this one is answered.

        Without it the next frame waits for this answer, as it does in Apache Kafka.
        """
        if self.holds_up and self.pieces is None:
            self.connection.proceeded(self)

    def close(self, reason: str) -> None:
        """Closes the connection instead of an answer, logged with `reason`."""
        self.connection.close(reason)
