"""Requests to the active controller over the simulated network, and its answers.

An answer travels as in an envelope: an error code, and behind it the response unless the whole request was refused.
The callback runs once: with the answer, or with REQUEST_TIMED_OUT, after which the outcome is unknown.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.metadata.controller.answer import Answer
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.raft.raft_part import RaftPart

NAME: Final = "metadata"
REQUEST_TIMEOUT_MS: Final = 2000
Heard = Callable[[int, Any], None]
"""Called with an error code and, if that is 0, the response."""

_ERROR: Final = struct.Struct(">h")


def decode_request(frame: Frame) -> Request:
    """The request that a frame carries."""
    return request_type(ApiKey(frame.api_key)).decode(frame.payload, frame.api_version)


def answer_frame(frame: Frame, answer: Answer) -> Frame:
    """The frame that answers a request's."""
    if answer.error is not None:
        payload = _ERROR.pack(answer.error.code)
    else:
        payload = _ERROR.pack(ErrorCode.NONE) + answer.response.encode(frame.api_version)
    return frame._replace(source=frame.destination, destination=frame.source, is_request=False, payload=payload)


class ControllerClient:
    """Asks the leader that the quorum part of its node knows, or any controller if that knows none."""

    def __init__(self, raft: RaftPart, controllers: Sequence[int]) -> None:
        self._raft = raft
        self._controllers = controllers
        self._waiting: dict[int, Heard] = {}
        self._last_correlation_id = 0

    def ask(self, request: Request, heard: Heard) -> None:
        """Sends a request."""
        node = self._raft.node
        leader_id = self._raft.core.leader.leader_id
        destination = node.random.choice(self._controllers) if leader_id is None else leader_id
        self._last_correlation_id += 1
        correlation_id, version = self._last_correlation_id, type(request).valid_versions.highest
        self._waiting[correlation_id] = heard
        node.later(REQUEST_TIMEOUT_MS, lambda: self._expire(correlation_id))
        payload = request.encode(version)
        host = f"node-{destination}"
        node.send(Frame(node.host, host, NAME, node.incarnation, True, correlation_id, request.api, version, payload))

    def receive(self, frame: Frame) -> None:
        """Hands an answer to its callback; repeated ones and those to an earlier run of the process are dropped."""
        if frame.run != self._raft.node.incarnation:
            return
        heard = self._waiting.pop(frame.correlation_id, None)
        if heard is None:
            return
        (error,) = _ERROR.unpack_from(frame.payload)
        if error:
            heard(error, None)
        else:
            body = response_type(ApiKey(frame.api_key))
            heard(error, body.decode(frame.payload[_ERROR.size :], frame.api_version))

    def _expire(self, correlation_id: int) -> None:
        heard = self._waiting.pop(correlation_id, None)
        if heard is not None:
            heard(ErrorCode.REQUEST_TIMED_OUT, None)
