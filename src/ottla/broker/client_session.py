"""What the broker keeps about one connection, in the slot that the connection has for it."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.replication.fetch import FetchParams


class ClientSession:
    """Made when a client connects, gone when it leaves."""

    __slots__ = ("fetch_params",)

    def __init__(self) -> None:
        self.fetch_params: FetchParams | None = None
        """Of the last fetch over this connection; few clients ever change them."""
