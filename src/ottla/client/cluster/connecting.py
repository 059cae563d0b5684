"""Makes connections: name to addresses, socket, TLS, versions, SASL; and says in plain words why one can't be made.

An attempt tries every address of a name in turn (KIP-302). What it raises names the node, the address and a remedy:
`ConnectFailedError` for troubles that may pass, `AuthenticationFailedError` for those that won't.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from ssl import SSLContext, SSLEOFError, SSLError
from typing import Final, NamedTuple, TypeAlias

from ottla.base.frozen import frozen
from ottla.client.cluster.address import Address
from ottla.client.cluster.diagnosis import explain
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.errors import (
    AuthenticationFailedError,
    ConnectFailedError,
    ControllerPortError,
    TlsFailedError,
)
from ottla.client.metric.node_sensor import NodeSensor
from ottla.net.client_connection import ClientOptions
from ottla.net.errors import InvalidFrameError
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, NetworkError

Authenticate: TypeAlias = Callable[[NodeConnection], Awaitable[None]]
"""Proves who we are on a connection that knows the node's versions; raises `AuthenticationFailedError`."""


_ASKING: Final = "asking for the versions that it speaks"


class Target(NamedTuple):
    """Whom to connect to: the address, and how to call the node in messages."""

    address: Address
    label: str
    is_advertised: bool = False
    """Whether a broker told us the address, and not the user."""

    def explained(self, reason: str) -> str:
        """`reason`, with whom to turn to if the address itself is wrong."""
        if not self.is_advertised:
            return reason
        return (
            f"{reason} (the broker advertises this address: its advertised.listeners must name one that we can reach)"
        )


@frozen
class ConnectOptions:
    """The part of a client's settings that making connections needs."""

    client: ClientOptions
    tls: SSLContext | None = None
    authenticate: Authenticate | None = None
    protocol: str = "PLAINTEXT"
    expects_brokers: bool = True
    """Whether a controller that answers is a mistake."""
    send_buffer_bytes: int = -1
    receive_buffer_bytes: int = -1


@dataclass(slots=True)
class _Progress:
    """The step that an attempt has reached, which explains a failure."""

    step: str = "resolving the name"
    address: str = ""
    tried: list[str] = field(default_factory=list)


async def connect(target: Target, options: ConnectOptions, sensor: NodeSensor, timeout_ms: float) -> NodeConnection:
    """A connection that is ready for requests."""
    progress = _Progress()
    try:
        async with asyncio.timeout(timeout_ms / 1000):
            return await _connect(target, options, sensor, progress)
    except AuthenticationFailedError:
        sensor.refusals.record()
        raise
    except TimeoutError:
        tried = f" ({progress.address})" if progress.address else ""
        reason = f"no success within {timeout_ms:.0f} ms; it got stuck at {progress.step}{tried}"
        if progress.step == _ASKING:
            reason += ": is this a broker's port?"
        raise ConnectFailedError(target.label, target.explained(reason)) from None


async def _connect(target: Target, options: ConnectOptions, sensor: NodeSensor, progress: _Progress) -> NodeConnection:
    loop = asyncio.get_running_loop()
    host, port = target.address
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # a name that is no name is a UnicodeError
        reason = explain(error, target.address, options.protocol)
        raise ConnectFailedError(target.label, target.explained(reason)) from error
    except RuntimeError as error:
        # Names are resolved by other threads, and at the end of the process no new ones are started.
        raise ConnectFailedError(target.label, f"no name can be resolved any more: {error}") from error
    last: ConnectFailedError | None = None
    for family, kind, proto, _, where in found:
        progress.address = str(Address(str(where[0]), port))
        progress.step = "connecting"
        try:
            sock = await _open_socket((family, kind, proto), where, options)
            return await _set_up(sock, target, options, sensor, progress)
        except ControllerPortError:
            raise
        except (OSError, ApiError, InvalidFrameError) as error:
            reason = explain(error, target.address, options.protocol, step=progress.step)
            if isinstance(error, SSLError) and not isinstance(error, SSLEOFError):
                raise TlsFailedError(f"{target.label}: {reason}") from error
            progress.tried.append(f"{progress.address}: {reason}")
            last = ConnectFailedError(target.label, target.explained(_joined(progress.tried, target.address)))
            last.__cause__ = error
    assert last is not None
    raise last


def _joined(tried: list[str], address: Address) -> str:
    """One reason as it is, without an address that says nothing new; several one after the other."""
    if len(tried) == 1:
        return tried[0].removeprefix(f"{address}: ")
    reasons = {entry.partition(": ")[2] for entry in tried}
    if len(reasons) == 1:
        return f"{reasons.pop()} (tried {', '.join(entry.partition(': ')[0] for entry in tried)})"
    return "; ".join(tried)


async def _open_socket(kind: tuple[int, int, int], where: tuple[object, ...], options: ConnectOptions) -> socket.socket:
    sock = socket.socket(*kind)
    try:
        sock.setblocking(False)
        if options.send_buffer_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, options.send_buffer_bytes)
        if options.receive_buffer_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, options.receive_buffer_bytes)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        await asyncio.get_running_loop().sock_connect(sock, where)
    except BaseException:
        sock.close()
        raise
    return sock


async def _set_up(
    sock: socket.socket, target: Target, options: ConnectOptions, sensor: NodeSensor, progress: _Progress
) -> NodeConnection:
    loop = asyncio.get_running_loop()
    connection = NodeConnection(loop, target.label, options.client, sensor)
    connection.host = target.address.host
    try:
        if options.tls is not None:
            progress.step = "the TLS handshake"
        server_name = target.address.host if options.tls is not None else None
        await loop.create_connection(lambda: connection, sock=sock, ssl=options.tls, server_hostname=server_name)
        progress.step = _ASKING
        await connection.negotiate()
        if options.expects_brokers and connection.serves(ApiKey.VOTE) and not connection.serves(ApiKey.METADATA):
            raise ControllerPortError(target.label)
        if options.authenticate is not None:
            progress.step = "SASL authentication"
            await options.authenticate(connection)
            sensor.logins.record()
        if not connection.is_open:
            raise NetworkError(f"{target.label} disconnected")
    except BaseException as error:
        connection.close()
        # In TLS 1.3 a client's certificate is refused after the handshake: the refusal is what ends the connection.
        if isinstance(error, NetworkError) and isinstance(connection.lost_because, SSLError):
            raise connection.lost_because from None
        raise
    return connection
