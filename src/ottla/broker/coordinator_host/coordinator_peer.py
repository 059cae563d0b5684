"""Requests of the coordinators to other brokers, over connections that are kept per broker.

A broker's address is looked up for every request: it may come back elsewhere. Requests in flight then fail, and the
coordinator repeats them.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from ottla.broker.quorum.quorum_network import Peer
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, BrokerNotAvailableError, NetworkError
from ottla.raft.identity import Node
from ottla.replication.ports import EventLoop


class BrokerPeers:
    """The other brokers. Loop thread only."""

    def __init__(self, loop: EventLoop, find: Callable[[int], Node | None], connect: Callable[[Node], Peer]) -> None:
        """`find` tells where a broker is now; None if it is registered nowhere."""
        self._loop: Final = loop
        self._find: Final = find
        self._connect: Final = connect
        self._peers: dict[int, tuple[Node, Peer]] = {}
        self._is_closed = False

    def send(
        self, broker_id: int, request: Request, done: Callable[[Response | ApiError], None], timeout_ms: int
    ) -> None:
        """Sends a request to a broker; `done` is never called within this call, and not after `close`."""

        def heard(answer: Response | Exception) -> None:
            if not self._is_closed:
                done(answer if isinstance(answer, (Response, ApiError)) else NetworkError(str(answer)))

        peer = self._reachable(broker_id)
        if peer is None:
            self._loop.call_soon(partial(heard, BrokerNotAvailableError()))
        else:
            peer.send(request, heard, timeout_ms=timeout_ms)

    def close(self) -> None:
        """Ends all connections."""
        self._is_closed = True
        for _, peer in self._peers.values():
            peer.close()
        self._peers.clear()

    def _reachable(self, broker_id: int) -> Peer | None:
        node = self._find(broker_id)
        known = self._peers.get(broker_id)
        if known is not None:
            if known[0] == node:
                return known[1]
            known[1].close()
            del self._peers[broker_id]
        if node is None or self._is_closed:
            return None
        peer = self._connect(node)
        self._peers[broker_id] = (node, peer)
        return peer
