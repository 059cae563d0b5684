"""The listeners of one role of a node: made from the settings, bound and closed together, changed while it runs."""

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.base.config import ConfigError
from ottla.broker.config.listener import ListenerAddress, parse_pairs
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node_context import NodeContext
from ottla.metadata.image.cluster import Endpoint
from ottla.net.errors import ListenError
from ottla.net.handler import FrameHandler
from ottla.net.limits import SYSTEM_BUFFER, UNLIMITED, ListenerLimits, ServerLimits
from ottla.net.listener import Listener

if TYPE_CHECKING:
    from ottla.net.channel import Channel, Exchange

_log = logging.getLogger(__name__)

LISTENER_KEYS: Final = ("listeners", "listener.security.protocol.map")
"""The settings that say which listeners there are."""
SERVER_LIMIT_KEYS: Final = (
    "max.connections",
    "max.connection.creation.rate",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
)
"""The settings of `server_limits`, and of `listener_limits`, that may change while a node runs."""
_SEND_BUFFER_BYTES: Final = 262_144
_PROTOCOL_IDS: Final[Mapping[str, int]] = {"PLAINTEXT": 0, "SSL": 1, "SASL_PLAINTEXT": 2, "SASL_SSL": 3}


class LateHandler:
    """A handler that is not known yet when the listeners are bound: nothing comes in before the loop's next turn."""

    def __init__(self) -> None:
        self.target: FrameHandler | None = None

    def received(self, frame: memoryview, exchange: "Exchange") -> None:
        """Hands on a request."""
        assert self.target is not None
        self.target.received(frame, exchange)

    def connected(self, connection: "Channel") -> None:
        """Hands on a new connection."""
        assert self.target is not None
        self.target.connected(connection)

    def disconnected(self, connection: "Channel") -> None:
        """Hands on the end of a connection."""
        assert self.target is not None
        self.target.disconnected(connection)


class ListenerSet:
    """Some listeners that serve the same."""

    def __init__(
        self,
        addresses: Sequence[ListenerAddress],
        handler: FrameHandler,
        around: NodeContext,
        config: ServerConfig,
    ) -> None:
        """Raises `ConfigError` if a listener's certificates or users can't be used."""
        self._handler: Final = handler
        self._around: Final = around
        self._listeners = {address: self._make(address, config) for address in addresses}
        self._bound: list[Listener] = []

    def _make(self, address: ListenerAddress, config: ServerConfig) -> Listener:
        limits = listener_limits(config, address.name)
        security = self._around.security.of_listener(config, address.name, address.host)
        poller = self._around.poller
        return Listener(address.name, address.host, address.port, self._handler, poller, limits, security)

    def bind(self) -> None:
        """Binds all of them; clients wait until `start`. `ListenError` if one can't, and then none is bound."""
        try:
            for listener in self._listeners.values():
                listener.bind()
                self._bound.append(listener)
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Lets clients in; what is not bound yet is bound first."""
        if not self._bound:
            self.bind()
        for listener in self._bound:
            listener.start()

    def change(self, addresses: Sequence[ListenerAddress], config: ServerConfig) -> None:
        """Closes those that are not wanted any more, with their connections, and opens new ones.

        One that can't be opened is named in the log: the change is in the cluster's metadata, and can't be refused.
        """
        for address in self._listeners.keys() - set(addresses):
            listener = self._listeners.pop(address)
            self._bound = [each for each in self._bound if each is not listener]
            self._close(listener)
            _log.info("The listener %s at %s:%d is closed", *address)
        for address in addresses:
            if address not in self._listeners:
                self._open(address, config)

    def _open(self, address: ListenerAddress, config: ServerConfig) -> None:
        try:
            listener = self._make(address, config)
            listener.start()
        except (ConfigError, ListenError) as error:
            _log.error("The listener %s could not be opened: %s", address.name, error)
            return
        self._listeners[address] = listener
        self._bound.append(listener)
        _log.info("The listener %s is open at %s:%d", address.name, *listener.address)

    def address(self, name: str) -> tuple[str, int] | None:
        """The bound address of the listener of that name; None if there is none."""
        return next((listener.address for listener in self._listeners.values() if listener.name == name), None)

    def change_limits(self, config: ServerConfig) -> None:
        """Grants clients from now on what other settings say."""
        for listener in self._listeners.values():
            listener.limits = listener_limits(config, listener.name)

    def stop_accepting(self) -> None:
        """Lets no new client in."""
        for listener in self._bound:
            listener.stop_accepting()

    def close(self) -> None:
        """Closes all connections."""
        self._bound = []
        for listener in self._listeners.values():
            self._close(listener)

    def _close(self, listener: Listener) -> None:
        listener.close()
        self._around.security.forget_listener(listener.name, listener.security)

    def advertised(
        self, advertised: Sequence[ListenerAddress], protocols: Mapping[str, str], hostname: str
    ) -> list[Endpoint]:
        """The advertised address: for port 0 the bound port, without a host this machine's name."""
        found = []
        for name, host, port in advertised:
            bound = self.address(name)
            real_port = bound[1] if port == 0 and bound is not None else port
            found.append(Endpoint(name, host or hostname, real_port, _PROTOCOL_IDS[protocols[name]]))
        return found


def listener_limits(config: ServerConfig, name: str) -> ListenerLimits:
    """The limits of a listener; `listener.name.<name>.` before a setting makes it that listener's own."""
    prefix = f"listener.name.{name.lower()}"
    return ListenerLimits(
        connections_max=int(config.given.get(f"{prefix}.max.connections", UNLIMITED)),
        connection_rate_max=int(config.given.get(f"{prefix}.max.connection.creation.rate", UNLIMITED)),
        idle_ms_max=config.integer("connections.max.idle.ms"),
        request_bytes_max=config.integer("socket.request.max.bytes"),
        receive_buffer_bytes=_buffer_bytes(config, "socket.receive.buffer.bytes", SYSTEM_BUFFER),
        send_buffer_bytes=_buffer_bytes(config, "socket.send.buffer.bytes", _SEND_BUFFER_BYTES),
        backlog=config.integer("socket.listen.backlog.size"),
        is_inter_broker=name == config.inter_broker_listener_name and len(config.broker_listeners) > 1,
    )


def _buffer_bytes(config: ServerConfig, key: str, otherwise: int) -> int:
    """The size an operator asked for; else ours.

    Kafka's default of 100 KiB in both directions makes ten wake-ups of a request of 1 MB, and costs twice the CPU. The
    system's own size grows with a connection's need, which is best for receiving; for `sendfile` it grows too far.
    """
    return config.integer(key) if key in config.given else otherwise


def server_limits(config: ServerConfig) -> ServerLimits:
    """The limits of all listeners together."""
    overrides = parse_pairs(config.string("max.connections.per.ip.overrides"))
    return ServerLimits(
        connections_max=config.integer("max.connections"),
        connection_rate_max=config.integer("max.connection.creation.rate"),
        connections_per_ip_max=config.integer("max.connections.per.ip"),
        connections_per_ip_overrides={host: int(limit) for host, limit in overrides.items()},
        queued_bytes_max=config.integer("queued.max.request.bytes"),
    )
