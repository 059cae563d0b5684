"""The limits of a listener and of a server, with Kafka's defaults."""

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from ottla.base.frozen import frozen

UNLIMITED: Final = 2**31 - 1
SYSTEM_BUFFER: Final = -1
"""A socket's buffer as the system sizes it."""


@frozen
class ListenerLimits:
    """The limits of one listener."""

    connections_max: int = UNLIMITED
    """`listener.name.<name>.max.connections`: at the limit further clients wait in the backlog."""
    connection_rate_max: int = UNLIMITED
    """`listener.name.<name>.max.connection.creation.rate`: connections beyond it wait in the backlog (KIP-612)."""
    idle_ms_max: int = 600_000
    """`connections.max.idle.ms`; -1 for ever."""
    request_bytes_max: int = 104_857_600
    """`socket.request.max.bytes`: a larger frame closes its connection."""
    receive_buffer_bytes: int = 102_400
    """`socket.receive.buffer.bytes`; -1 leaves it to the system."""
    send_buffer_bytes: int = 102_400
    """`socket.send.buffer.bytes`; -1 leaves it to the system."""
    backlog: int = 50
    """`socket.listen.backlog.size`; less than 1,024 counts as that many."""
    unread_bytes_max: int = 1_048_576
    """A connection with more unread answers than this is not read from."""
    exchanges_max: int = 100
    """A connection with this many unanswered requests is not read from."""
    is_inter_broker: bool = False
    """Inter-broker connections displace the longest idle client when `max.connections` is reached (KIP-402)."""


@frozen
class ServerLimits:
    """The limits of all listeners of a process together."""

    connections_max: int = UNLIMITED
    """`max.connections`."""
    connection_rate_max: int = UNLIMITED
    """`max.connection.creation.rate`; brokers are counted, and let in all the same."""
    connections_per_ip_max: int = UNLIMITED
    """`max.connections.per.ip`: a further client from this address is turned away."""
    connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    """`max.connections.per.ip.overrides`, by address."""
    queued_bytes_max: int = -1
    """`queued.max.request.bytes`: no reading while requests of this size wait; -1 for no limit."""


KAFKA_DEFAULTS: Final = ServerLimits()
