"""Requests and answers between nodes, with the guarantees of connections: at most one delivery, and none after the end.

The network underneath loses, repeats and delays. A lost frame ends a connection: the caller gives up after its
time-out, and frames still under way are not delivered any more. A process that starts again has none of the
connections of the one before; requests that a process sent before it died may still arrive.
"""

from collections.abc import Callable
from typing import Final

from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.definition import Request, Response
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.node import SimulatedNode

NAME: Final = "coordinator"
Heard = Callable[[Response | None], None]
"""Called once, with the response or with None if none came in time."""


class Connections:
    """All requests under way, with the run of the destination that each is meant for."""

    def __init__(self) -> None:
        self._under_way: dict[tuple[str, int, int], int] = {}

    def opened(self, frame: Frame, destination_run: int) -> None:
        """Notes that a request was sent."""
        self._under_way[frame.source, frame.run, frame.correlation_id] = destination_run

    def closed(self, host: str, run: int, correlation_id: int) -> None:
        """Notes that the caller has given up: the request is not delivered any more."""
        self._under_way.pop((host, run, correlation_id), None)

    def takes(self, frame: Frame, run: int) -> bool:
        """Whether to deliver a request to this run of the process: once, while its connection stands."""
        return self._under_way.pop((frame.source, frame.run, frame.correlation_id), None) == run


class Caller:
    """One process's requests to others."""

    def __init__(self, node: SimulatedNode, connections: Connections, run_of: Callable[[int], int]) -> None:
        """`run_of` knows which run of a node a connection made now would lead to."""
        self._node: Final = node
        self._connections: Final = connections
        self._run_of: Final = run_of
        self._waiting: dict[int, Heard] = {}
        self._last_correlation_id = 0

    def ask(self, node_id: int, request: Request, version: int, heard: Heard, timeout_ms: int) -> None:
        """Sends a request to a node."""
        node = self._node
        self._last_correlation_id += 1
        correlation_id = self._last_correlation_id
        payload = request.encode(version)
        frame = Frame(
            node.host, f"node-{node_id}", NAME, node.incarnation, True, correlation_id, request.api, version, payload
        )
        self._waiting[correlation_id] = heard
        self._connections.opened(frame, self._run_of(node_id))
        node.later(timeout_ms, lambda: self._expire(correlation_id))
        node.send(frame)

    def receive(self, frame: Frame) -> None:
        """Hands an answer to its caller; answers to an earlier run of the process are dropped."""
        if frame.run == self._node.incarnation:
            heard = self._waiting.pop(frame.correlation_id, None)
            if heard is not None:
                heard(response_type(ApiKey(frame.api_key)).decode(frame.payload, frame.api_version))

    def _expire(self, correlation_id: int) -> None:
        heard = self._waiting.pop(correlation_id, None)
        if heard is not None:
            self._connections.closed(self._node.host, self._node.incarnation, correlation_id)
            heard(None)


def decode_request(frame: Frame) -> Request:
    """The request that a frame carries."""
    return request_type(ApiKey(frame.api_key)).decode(frame.payload, frame.api_version)


def answer_frame(frame: Frame, response: Response) -> Frame:
    """The frame that answers a request's."""
    payload = response.encode(frame.api_version)
    return frame._replace(source=frame.destination, destination=frame.source, is_request=False, payload=payload)
