"""Requests of this replica to other members of the quorum: a connection for each node, made when first needed.

A node is known by its id, bootstrap servers by ids from -2 down. A node that moved to another address gets a new
connection; what was in flight on the old one fails, and the quorum asks again.
"""

from collections.abc import Callable
from typing import Protocol

from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.raft.identity import Node

Done = Callable[[Response | Exception], None]


class Peer(Protocol):
    """The part of a `NodeClient` that is used here."""

    def send(self, request: Request, done: Done, *, timeout_ms: int) -> None:
        """Sends a request; `done` hears the response, or why there is none."""
        ...

    def close(self) -> None:
        """Ends the connection; what is in flight fails."""
        ...


class QuorumNetwork:
    """The connections of one replica."""

    def __init__(self, connect: Callable[[Node], Peer], request_timeout_ms: int) -> None:
        """`connect` makes the client of a node; it need not be reachable yet."""
        self._connect = connect
        self._request_timeout_ms = request_timeout_ms
        self._peers: dict[int, tuple[Node, Peer]] = {}

    def send(self, node: Node, request: Request, done: Callable[[Response | ErrorCode], None]) -> None:
        """Asks a node; `done` hears its answer, or the error that stands for there being none."""
        self._peer(node).send(
            request, lambda answer: done(_without_exception(answer)), timeout_ms=self._request_timeout_ms
        )

    def close(self) -> None:
        """Ends all connections."""
        peers, self._peers = self._peers, {}
        for _, peer in peers.values():
            peer.close()

    def _peer(self, node: Node) -> Peer:
        known = self._peers.get(node.id)
        if known is not None and known[0] == node:
            return known[1]
        peer = self._connect(node)
        self._peers[node.id] = (node, peer)
        if known is not None:
            known[1].close()
        return peer


def _without_exception(answer: Response | Exception) -> Response | ErrorCode:
    """Only whether the peer knows the version matters to the quorum; everything else is a node out of reach."""
    if isinstance(answer, Response):
        return answer
    is_version = isinstance(answer, ApiError) and answer.code == ErrorCode.UNSUPPORTED_VERSION
    return ErrorCode.UNSUPPORTED_VERSION if is_version else ErrorCode.BROKER_NOT_AVAILABLE
