"""The place of one connection to one node: empty, being filled, or filled; and the pauses between attempts.

One slot has one connection at most. All waiting callers share one attempt; giving up waiting does not end the
attempt. After a failure the next attempt waits, longer each time (`reconnect.backoff.ms`), and takes longer before it
counts as failed (`socket.connection.setup.timeout.ms`, KIP-601). How often it failed outlives the slot: the
pool keeps it while slots come and go.
"""

import asyncio
from typing import Final

from ottla.base.dice import DICE
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.cluster.absence import Absence
from ottla.client.cluster.backoff import Backoff, Trouble
from ottla.client.cluster.connecting import ConnectOptions, Target, connect
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.metric.node_sensor import NodeSensor
from ottla.protocol.errors import NetworkError

_JITTER: Final = 0.2


@frozen
class SlotOptions:
    """Settings and callbacks that all slots of a client share."""

    connect: ConnectOptions
    backoff: Backoff
    setup_timeout_ms: int
    setup_timeout_max_ms: int
    absence: Absence

    @classmethod
    def of(cls, settings: ClientSettings, connect_options: ConnectOptions) -> "SlotOptions":
        """Reads the settings."""
        return cls(
            connect_options,
            Backoff.of_connecting(settings),
            settings.integer("socket.connection.setup.timeout.ms"),
            settings.integer("socket.connection.setup.timeout.max.ms"),
            Absence(),
        )


class NodeSlot:
    """At most one connection to a node."""

    def __init__(self, target: Target, options: SlotOptions, sensor: NodeSensor, trouble: Trouble) -> None:
        self.target = target
        """Whom the next attempt connects to."""
        self.trouble = trouble
        """How attempts to connect there went; a broker that changes its address gets another."""
        self.connection: NodeConnection | None = None
        self.error: OttlaError | None = None
        """Why the last attempt failed, or the last connection ended."""
        self._options: Final = options
        self._sensor: Final = sensor
        self._loop: Final = asyncio.get_running_loop()
        self._attempt: asyncio.Task[NodeConnection | OttlaError] | None = None
        self._is_closed = False

    @property
    def ready(self) -> NodeConnection | None:
        """The connection, if requests can be sent right now."""
        connection = self.connection
        if connection is None or not connection.is_open:
            return None
        if connection.has_to_retire:
            self.retire()
            return None
        return connection

    @property
    def is_connecting(self) -> bool:
        """Whether an attempt is under way."""
        return self._attempt is not None

    @property
    def pause_s(self) -> float:
        """The time until the next attempt is allowed."""
        return max(0.0, self.trouble.not_before - self._loop.time())

    async def connected(self) -> NodeConnection:
        """The connection, made first if need be. Raises `NetworkError`, or `AuthenticationFailedError`."""
        connection = self.ready
        if connection is not None:
            return connection
        if self._is_closed:
            raise NetworkError(f"the connection to {self.target.label} was given up")
        if self._attempt is None:
            self._attempt = self._loop.create_task(self._connect(), name=f"connect {self.target.label}")
        attempt = self._attempt
        # Unlike a shield, this keeps the end of the attempt from looking like the end of the task that waits for it.
        await asyncio.wait((attempt,))
        if attempt.cancelled():
            before = f"; the one before failed: {self.trouble.error}" if self.trouble.error else ""
            raise NetworkError(f"the attempt to connect to {self.target.label} was given up{before}")
        result = attempt.result()
        if isinstance(result, OttlaError):
            raise result
        return result

    def adopt(self, connection: NodeConnection) -> None:
        """Takes over a connection that was made to the same address."""
        self.connection = connection
        connection.on_lost = self._lost
        connection.count_for(self._sensor)

    def retire(self) -> None:
        """Retires the connection: requests in flight are still answered, new ones get a new connection."""
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.on_lost = None
            connection.close_when_answered()

    async def close(self) -> None:
        """Ends the connection and the attempt to make one; requests in flight fail."""
        self._is_closed = True
        attempt, connection = self._attempt, self.connection
        if attempt is not None:
            attempt.cancel()
            await asyncio.wait((attempt,))
        if connection is not None:
            connection.close()
        self.connection = None

    def close_idle(self, idle_ms_max: int) -> None:
        """Ends the connection if nothing was asked for so long."""
        connection = self.connection
        if connection is None or connection.in_flight_count:
            return
        if self._loop.time() - connection.last_used > idle_ms_max / 1000:
            connection.on_lost = None
            connection.close()
            self.connection = None

    async def _connect(self) -> NodeConnection | OttlaError:
        try:
            await asyncio.sleep(self.pause_s)
            target = self._options.absence.tried(self.target)
            made = await connect(target, self._options.connect, self._sensor, self._timeout_ms())
        except (NetworkError, AuthenticationFailedError) as error:
            self.error = self.trouble.error = error
            self.trouble.add(self._options.backoff, self._loop.time())
            self._options.absence.missed(target, error)
            return error
        finally:
            self._attempt = None
        self.trouble.failures, self.trouble.error = 0, None
        self._options.absence.reached(target)
        self.adopt(made)
        return made

    def _timeout_ms(self) -> float:
        options = self._options
        grown: int = options.setup_timeout_ms * 2 ** min(self.trouble.failures, 20)
        limited = min(grown, max(options.setup_timeout_max_ms, options.setup_timeout_ms))
        return limited * DICE.uniform(1, 1 + _JITTER)

    def _lost(self, error: OttlaError) -> None:
        self.connection = None
        self.error = error
        self.trouble.add(self._options.backoff, self._loop.time())
