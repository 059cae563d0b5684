"""Makes a topic on a broker over a socket of its own, and waits until its partitions can be written.

For tests that want a topic before their client does anything, whichever client that is. Faults don't meet these
requests.
"""

import socket
import time
from collections.abc import Mapping
from typing import Any, Final

from ottla.protocol.definition import Request
from ottla.protocol.errors import (
    LeaderNotAvailableError,
    NotLeaderOrFollowerError,
    UnknownTopicOrPartitionError,
    error_for,
)
from ottla.protocol.frame import decode_response, encode_request
from ottla.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

CLIENT_ID: Final = "ottla.testing"
_PATIENCE_S: Final = 30.0
_PAUSE_S: Final = 0.002
_DEFAULT: Final = -1
_LATEST: Final = -1
_CONSUMER: Final = -1
_NOT_YET: Final = (UnknownTopicOrPartitionError, LeaderNotAvailableError, NotLeaderOrFollowerError)
_SIZE_BYTES: Final = 4


def create_topic(address: tuple[str, int], name: str, partitions: int | None, configs: Mapping[str, str]) -> None:
    """Returns once every partition takes records; raises the `ApiError` of a broker that refuses."""
    topic = CreatableTopic(
        name=name,
        num_partitions=_DEFAULT if partitions is None else partitions,
        replication_factor=_DEFAULT,
        configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs.items()],
    )
    with socket.create_connection(address, timeout=_PATIENCE_S) as connection:
        [made] = _ask(connection, CreateTopicsRequest(topics=[topic])).topics
        if made.error_code:
            raise error_for(made.error_code, made.error_message)
        _wait_for_leaders(connection, name, made.num_partitions)


def _wait_for_leaders(connection: socket.socket, name: str, partitions: int) -> None:
    wanted = [ListOffsetsPartition(partition_index=index, timestamp=_LATEST) for index in range(partitions)]
    request = ListOffsetsRequest(replica_id=_CONSUMER, topics=[ListOffsetsTopic(name=name, partitions=wanted)])
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        [topic] = _ask(connection, request).topics
        errors = [error_for(found.error_code) for found in topic.partitions if found.error_code]
        if not errors:
            return
        if not isinstance(errors[0], _NOT_YET) or time.monotonic() > deadline_s:
            raise errors[0]
        time.sleep(_PAUSE_S)


def _ask(connection: socket.socket, request: Request) -> Any:
    version = request.valid_versions.highest
    connection.sendall(encode_request(request, version, correlation_id=0, client_id=CLIENT_ID))
    size = int.from_bytes(_receive(connection, _SIZE_BYTES), "big")
    return decode_response(_receive(connection, size), request.api, version)[1]


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise ConnectionError("the broker closed the connection")
        received += piece
    return bytes(received)
