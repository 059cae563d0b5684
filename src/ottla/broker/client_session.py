"""What the broker keeps about one connection, in the slot that the connection has for it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.replication.fetch import FetchParams


class ClientSession:
    """Made when a client connects, gone when it leaves."""

    __slots__ = ("abandon_fetch", "fetch_params")

    def __init__(self) -> None:
        self.fetch_params: FetchParams | None = None
        """Of the last fetch over this connection; few clients ever change them."""
        self.abandon_fetch: Callable[[], None] | None = None
        """Gives up the wait of the last fetch, if it waited: a connection has one at a time."""

    def close(self) -> None:
        """The client has left: a fetch may ask to wait for weeks, and would keep all that it asked for."""
        if self.abandon_fetch is not None:
            self.abandon_fetch()
