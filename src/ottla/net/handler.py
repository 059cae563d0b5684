"""The port for a listener's frames: the broker's pipeline implements it."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ottla.net.channel import Channel, Exchange


class FrameHandler(Protocol):
    """Hears of every connection of a listener and of every request on it, on the loop's thread.

    No method is ever called inside of another one, nor inside of `Exchange.answer` or `Connection.close`.
    """

    def connected(self, connection: "Channel") -> None:
        """A client has been accepted; nothing was read from it yet."""
        ...

    def received(self, frame: memoryview, exchange: "Exchange") -> None:
        """A whole request frame without its size has come.

        The view is writable and valid during the call only: what is needed later must be copied. The exchange is
        answered now or later. Any `OttlaError` raised here closes the connection with a warning that names the peer.
        """
        ...

    def disconnected(self, connection: "Channel") -> None:
        """The connection is gone, whoever ended it. Called exactly once for each that was `connected`."""
        ...
