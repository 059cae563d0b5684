"""The broker's state of one connection, in the connection's slot for it."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ottla.replication.request.fetch import FetchParams


class ClientSoftware(NamedTuple):
    """A client's software name and version, from ApiVersions."""

    name: str
    version: str


class ClientSession:
    """Made when a client connects, gone when it leaves."""

    __slots__ = ("abandon_fetch", "at_close", "caller", "fetch_params", "software")

    def __init__(self) -> None:
        self.caller: object = None
        """Cached decisions about the client's rights; `Admission` keeps them here."""
        self.fetch_params: FetchParams | None = None
        """Of the last fetch over this connection; few clients ever change them."""
        self.software: ClientSoftware | None = None
        """None for clients too old to say, or before they have."""
        self.abandon_fetch: Callable[[], None] | None = None
        """Gives up the wait of the last fetch, if it waited: a connection has one at a time."""
        self.at_close: dict[Hashable, Callable[[], object]] | None = None
        """Callbacks at the client's end, each under a key of its own; None for most clients."""

    def close(self) -> None:
        """The client has left: a fetch may ask to wait for weeks, and would keep all that it asked for."""
        if self.abandon_fetch is not None:
            self.abandon_fetch()
        at_close, self.at_close = self.at_close, None
        for forget in list(at_close.values()) if at_close else ():
            forget()

    def call_at_close(self, key: Hashable, forget: Callable[[], object]) -> None:
        """Has `forget` called when the client leaves, in the place of what was to be called for the same key."""
        if self.at_close is None:
            self.at_close = {}
        self.at_close[key] = forget

    def forgotten(self, key: Hashable) -> None:
        """Cancels `call_at_close` for that key."""
        if self.at_close is not None:
            self.at_close.pop(key, None)
