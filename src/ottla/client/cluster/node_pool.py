"""All connections of one client: the known nodes, and the choice of one when any node will do.

A node has a connection per `Purpose`, because brokers answer the requests of one connection in order: a heartbeat must
not wait behind a Fetch that waits for records. Bootstrap addresses have places of their own until the cluster has
named its brokers. An address that can't be reached is left alone for longer each time, and that is remembered while
places go and come back: an address that can't be reached is named anew with each answer for Metadata.
"""

import asyncio
import enum
from collections.abc import Iterable, Sequence
from typing import Final

from ottla.base.dice import DICE
from ottla.base.errors import OttlaError
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.address import Address
from ottla.client.cluster.backoff import Trouble
from ottla.client.cluster.cluster_view import BrokerView
from ottla.client.cluster.connecting import Target
from ottla.client.cluster.node_connection import NodeConnection
from ottla.client.cluster.node_slot import NodeSlot, SlotOptions
from ottla.client.errors import AuthenticationFailedError, FailedAttempt, NoBrokersAvailableError
from ottla.client.metric.node_sensor import BOOTSTRAP_NODE, NodeSensors
from ottla.protocol.errors import NetworkError


class Purpose(enum.Enum):
    """The purpose of a connection."""

    MAIN = "main"
    COORDINATOR = "coordinator"
    """Heartbeats, commits and transactions: never behind a waiting Fetch."""
    CATCH_UP = "catch up"
    """Fetches that don't wait, beside one that does."""
    REBALANCE = "rebalance"
    """JoinGroup and SyncGroup, whose answers wait for other members: a commit must not wait behind them."""
    EXPRESS = "express"
    """For threads that send one record at a time by themselves: the loop neither reads nor writes it."""


@one_thread
class NodePool:
    """Connections by node and purpose, made when they are needed."""

    def __init__(self, bootstrap: Sequence[Address], options: SlotOptions, sensors: NodeSensors) -> None:
        self._bootstrap: Final = tuple(bootstrap)
        self._options: Final = options
        self._sensors: Final = sensors
        self._brokers: dict[int, BrokerView] = {}
        self._left: dict[int, BrokerView] = {}
        """The brokers that a rebootstrap forgot, until the cluster names its brokers again."""
        self._slots: Final[dict[tuple[int, Purpose], NodeSlot]] = {}
        self._bootstrap_slots: Final[dict[Address, NodeSlot]] = {}
        self._troubles: Final[dict[tuple[Address, Purpose | None], Trouble]] = {}
        """By address and purpose; None is the place of a bootstrap address."""
        self._closing: Final[set[asyncio.Task[None]]] = set()

    def update(self, brokers: Iterable[BrokerView]) -> None:
        """These are the brokers now; connections to others end."""
        self._brokers = {broker.id: broker for broker in brokers}
        for (node_id, purpose), slot in list(self._slots.items()):
            broker = self._brokers.get(node_id)
            if broker is None:
                del self._slots[node_id, purpose]
                self._close_soon(slot)
            else:
                slot.target = Target(broker.address, str(broker), is_advertised=True)
                slot.trouble = self._trouble(broker.address, purpose)
        if self._brokers:
            self._left = {}
            self._leave_bootstrap()
            self._forget_troubles()

    def ready(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> NodeConnection | None:
        """The connection to a node, if there is one that can be used right now."""
        slot = self._slots.get((node_id, purpose))
        return None if slot is None else slot.ready

    async def connection(self, node_id: int, purpose: Purpose = Purpose.MAIN) -> NodeConnection:
        """The connection to a node, made if need be. Raises `NetworkError` or `AuthenticationFailedError`."""
        return await self._slot(node_id, purpose).connected()

    async def any_connection(self) -> NodeConnection:
        """A connection to the least busy node; each known node is tried before this gives up.

        Raises `NoBrokersAvailableError` with every address and its reason, or `AuthenticationFailedError` if no node
        could be reached and one refused the log-in.
        """
        ready = self._least_loaded()
        if ready is not None:
            return ready
        attempts: list[FailedAttempt] = []
        refusal: AuthenticationFailedError | None = None
        for slot in self._candidates():
            try:
                return await slot.connected()
            except (NetworkError, AuthenticationFailedError) as error:
                attempts.append(FailedAttempt(slot.target.label, _reason(error, slot), error))
                if isinstance(error, AuthenticationFailedError):
                    refusal = refusal or error
        if refusal is not None:
            raise refusal
        raise NoBrokersAvailableError(sorted(attempts, key=lambda attempt: attempt.address))

    def unreachable(self) -> NoBrokersAvailableError | None:
        """Why no known broker can be had, if each was tried and has to be left alone for now; else None."""
        if not self._brokers or self._least_loaded() is not None:
            return None
        attempts = []
        for slot in self._candidates():
            error = slot.trouble.error
            if slot.is_connecting or not slot.pause_s or not isinstance(error, NetworkError):
                return None
            attempts.append(FailedAttempt(slot.target.label, _reason(error, slot), error))
        return NoBrokersAvailableError(sorted(attempts, key=lambda attempt: attempt.address))

    def knows(self, node_id: int) -> bool:
        """Whether this is one of the brokers that there are."""
        return node_id in self._brokers

    @property
    def knows_brokers(self) -> bool:
        """Whether the cluster has named its brokers."""
        return bool(self._brokers)

    @property
    def connection_count(self) -> int:
        """The number of open connections."""
        return sum(slot.connection is not None for slot in self._all_slots())

    def close_idle(self, idle_ms_max: int) -> None:
        """Ends connections that were not used for so long."""
        for slot in self._all_slots():
            slot.close_idle(idle_ms_max)

    async def rebootstrap(self) -> None:
        """Forgets every broker and begins again with the bootstrap addresses (KIP-899)."""
        self._left, self._brokers = self._brokers or self._left, {}
        slots = [*self._slots.values(), *self._bootstrap_slots.values()]
        self._slots.clear()
        self._bootstrap_slots.clear()
        for slot in slots:
            await slot.close()

    async def close(self) -> None:
        """Ends all connections; requests in flight fail."""
        await self.rebootstrap()
        if self._closing:
            await asyncio.wait(self._closing)

    def _slot(self, node_id: int, purpose: Purpose) -> NodeSlot:
        slot = self._slots.get((node_id, purpose))
        if slot is None:
            broker = self._brokers.get(node_id)
            if broker is None:
                raise self._unknown(node_id, purpose)
            target = Target(broker.address, str(broker), is_advertised=True)
            trouble = self._trouble(broker.address, purpose)
            slot = NodeSlot(target, self._options, self._sensors.of(node_id), trouble)
            self._slots[node_id, purpose] = slot
        return slot

    def _unknown(self, node_id: int, purpose: Purpose) -> NetworkError:
        """Why there is no connection to a broker that is not known, or not again yet."""
        broker = self._left.get(node_id)
        if broker is None:
            return NetworkError(f"no broker {node_id} is known; known are {sorted(self._brokers) or 'none'}")
        for trouble in (self._troubles.get((broker.address, each)) for each in (purpose, Purpose.MAIN)):
            if trouble is not None and isinstance(trouble.error, NetworkError):
                return NetworkError(str(trouble.error))
        return NetworkError(f"{broker}: the client has gone back to bootstrap.servers, to ask who the brokers are")

    def _least_loaded(self) -> NodeConnection | None:
        """The open connection with the fewest unanswered requests, if its answers don't wait for others."""
        best: NodeConnection | None = None
        reserved = {
            slot for (_, purpose), slot in self._slots.items() if purpose in (Purpose.REBALANCE, Purpose.EXPRESS)
        }
        for slot in self._all_slots():
            connection = None if slot in reserved else slot.ready
            if connection is None or connection.throttled_ms:
                continue
            if best is None or connection.in_flight_count < best.in_flight_count:
                best = connection
        return best

    def _candidates(self) -> list[NodeSlot]:
        """Whom to connect to, in which order: those under way, then those that need not wait, by chance."""
        if self._brokers:
            slots = [self._slot(node_id, Purpose.MAIN) for node_id in self._brokers]
        else:
            slots = [self._bootstrap_slot(address) for address in self._bootstrap]
        DICE.shuffle(slots)
        slots.sort(key=lambda slot: (not slot.is_connecting, slot.pause_s))
        return slots

    def _bootstrap_slot(self, address: Address) -> NodeSlot:
        slot = self._bootstrap_slots.get(address)
        if slot is None:
            target = Target(address, f"{address} (bootstrap)")
            sensor = self._sensors.of(BOOTSTRAP_NODE)
            slot = NodeSlot(target, self._options, sensor, self._trouble(address, None))
            self._bootstrap_slots[address] = slot
        return slot

    def _trouble(self, address: Address, purpose: Purpose | None) -> Trouble:
        return self._troubles.setdefault((address, purpose), Trouble())

    def _forget_troubles(self) -> None:
        """Drops the troubles of addresses without a broker."""
        known = {broker.address for broker in self._brokers.values()}
        for address, purpose in [key for key in self._troubles if key[1] is not None and key[0] not in known]:
            del self._troubles[address, purpose]

    def _leave_bootstrap(self) -> None:
        """A bootstrap connection to an address that a broker advertises becomes that broker's; the others end."""
        for broker in self._brokers.values():
            slot = self._bootstrap_slots.get(broker.address)
            connection = None if slot is None else slot.ready
            if slot is not None and connection is not None and (broker.id, Purpose.MAIN) not in self._slots:
                del self._bootstrap_slots[broker.address]
                self._slot(broker.id, Purpose.MAIN).adopt(connection)
        for slot in self._bootstrap_slots.values():
            self._close_soon(slot)
        self._bootstrap_slots.clear()

    def _close_soon(self, slot: NodeSlot) -> None:
        if slot.ready is not None:
            slot.retire()
        else:
            task = asyncio.get_running_loop().create_task(slot.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _all_slots(self) -> list[NodeSlot]:
        return [*self._slots.values(), *self._bootstrap_slots.values()]


def _reason(error: OttlaError, slot: NodeSlot) -> str:
    return str(error).removeprefix(f"{slot.target.label}: ")
