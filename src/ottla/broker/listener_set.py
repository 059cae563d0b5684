"""The listeners of one role of a node: made from the settings, bound together, closed together."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.broker.config import ServerConfig
from ottla.broker.config_listener import ListenerAddress, parse_pairs
from ottla.metadata.image.cluster import Endpoint
from ottla.net.handler import FrameHandler
from ottla.net.limits import UNLIMITED, ListenerLimits, ServerLimits
from ottla.net.listener import Listener
from ottla.net.poller import Poller

if TYPE_CHECKING:
    from ottla.net.connection import Connection
    from ottla.net.exchange import Exchange

SERVER_LIMIT_KEYS: Final = ("max.connections", "max.connections.per.ip", "max.connections.per.ip.overrides")
"""The settings of `server_limits` that may change while a node runs."""
_PROTOCOL_IDS: Final[Mapping[str, int]] = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class LateHandler:
    """A handler that is not known yet when the listeners are bound: nothing comes in before the loop's next turn."""

    def __init__(self) -> None:
        self.target: FrameHandler | None = None

    def received(self, frame: memoryview, exchange: "Exchange") -> None:
        """Hands on a request."""
        assert self.target is not None
        self.target.received(frame, exchange)

    def connected(self, connection: "Connection") -> None:
        """Hands on a new connection."""
        assert self.target is not None
        self.target.connected(connection)

    def disconnected(self, connection: "Connection") -> None:
        """Hands on the end of a connection."""
        assert self.target is not None
        self.target.disconnected(connection)


class ListenerSet:
    """Some listeners that serve the same."""

    def __init__(
        self, addresses: Sequence[ListenerAddress], handler: FrameHandler, poller: Poller, config: ServerConfig
    ) -> None:
        self._listeners = [
            Listener(address.name, address.host, address.port, handler, poller, listener_limits(config, address.name))
            for address in addresses
        ]
        self._bound: list[Listener] = []

    def start(self) -> None:
        """Binds all of them; `ListenError` if one can't, and then none is bound."""
        try:
            for listener in self._listeners:
                listener.start()
                self._bound.append(listener)
        except BaseException:
            self.close()
            raise

    def address(self, name: str) -> tuple[str, int] | None:
        """Where the listener of that name is bound; None if it is not one of these."""
        return next((listener.address for listener in self._listeners if listener.name == name), None)

    def stop_accepting(self) -> None:
        """Lets no new client in."""
        for listener in self._bound:
            listener.stop_accepting()

    def close(self) -> None:
        """Closes all connections."""
        bound, self._bound = self._bound, []
        for listener in bound:
            listener.close()

    def advertised(
        self, advertised: Sequence[ListenerAddress], protocols: Mapping[str, str], hostname: str
    ) -> list[Endpoint]:
        """What others are told: a port of 0 is the one that was bound, no host at all is this machine's name."""
        found = []
        for name, host, port in advertised:
            bound = self.address(name)
            real_port = bound[1] if port == 0 and bound is not None else port
            found.append(Endpoint(name, host or hostname, real_port, _PROTOCOL_IDS[protocols[name]]))
        return found


def listener_limits(config: ServerConfig, name: str) -> ListenerLimits:
    """What a listener grants its clients; `listener.name.<name>.` before a setting makes it that listener's own."""
    own = config.given.get(f"listener.name.{name.lower()}.max.connections")
    return ListenerLimits(
        connections_max=UNLIMITED if own is None else int(own),
        idle_ms_max=config.integer("connections.max.idle.ms"),
        request_bytes_max=config.integer("socket.request.max.bytes"),
        receive_buffer_bytes=config.integer("socket.receive.buffer.bytes"),
        send_buffer_bytes=config.integer("socket.send.buffer.bytes"),
        backlog=config.integer("socket.listen.backlog.size"),
        is_inter_broker=name == config.inter_broker_listener_name and len(config.broker_listeners) > 1,
    )


def server_limits(config: ServerConfig) -> ServerLimits:
    """What all listeners grant together."""
    overrides = parse_pairs(config.string("max.connections.per.ip.overrides"))
    return ServerLimits(
        connections_max=config.integer("max.connections"),
        connections_per_ip_max=config.integer("max.connections.per.ip"),
        connections_per_ip_overrides={host: int(limit) for host, limit in overrides.items()},
        queued_bytes_max=config.integer("queued.max.request.bytes"),
    )
