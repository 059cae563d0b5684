"""Requests to the active controller over the simulated network, and its answers.

An answer travels as in an envelope: an error code, and behind it the response unless the whole request was refused.
Whoever asks hears of it once: the answer, or REQUEST_TIMED_OUT, after which nobody knows whether it was carried out.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from ottla.metadata.controller.answer import Answer
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages import (
    allocate_producer_ids,
    alter_partition,
    alter_partition_reassignments,
    assign_replicas_to_dirs,
    broker_heartbeat,
    broker_registration,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    incremental_alter_configs,
    unregister_broker,
)
from ottla.testing.simulation.network import Frame
from ottla.testing.simulation.raft_part import RaftPart

NAME: Final = "metadata"
REQUEST_TIMEOUT_MS: Final = 2000
Heard = Callable[[int, Any], None]
"""Called with an error code and, if that is 0, the response."""

_ERROR: Final = struct.Struct(">h")
_MESSAGES: Final[dict[int, tuple[type[Request], type[Response]]]] = {
    ApiKey.ALLOCATE_PRODUCER_IDS: (
        allocate_producer_ids.AllocateProducerIdsRequest,
        allocate_producer_ids.AllocateProducerIdsResponse,
    ),
    ApiKey.ALTER_PARTITION: (alter_partition.AlterPartitionRequest, alter_partition.AlterPartitionResponse),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: (
        alter_partition_reassignments.AlterPartitionReassignmentsRequest,
        alter_partition_reassignments.AlterPartitionReassignmentsResponse,
    ),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: (
        assign_replicas_to_dirs.AssignReplicasToDirsRequest,
        assign_replicas_to_dirs.AssignReplicasToDirsResponse,
    ),
    ApiKey.BROKER_HEARTBEAT: (broker_heartbeat.BrokerHeartbeatRequest, broker_heartbeat.BrokerHeartbeatResponse),
    ApiKey.BROKER_REGISTRATION: (
        broker_registration.BrokerRegistrationRequest,
        broker_registration.BrokerRegistrationResponse,
    ),
    ApiKey.CREATE_PARTITIONS: (create_partitions.CreatePartitionsRequest, create_partitions.CreatePartitionsResponse),
    ApiKey.CREATE_TOPICS: (create_topics.CreateTopicsRequest, create_topics.CreateTopicsResponse),
    ApiKey.DELETE_TOPICS: (delete_topics.DeleteTopicsRequest, delete_topics.DeleteTopicsResponse),
    ApiKey.ELECT_LEADERS: (elect_leaders.ElectLeadersRequest, elect_leaders.ElectLeadersResponse),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (
        incremental_alter_configs.IncrementalAlterConfigsRequest,
        incremental_alter_configs.IncrementalAlterConfigsResponse,
    ),
    ApiKey.UNREGISTER_BROKER: (unregister_broker.UnregisterBrokerRequest, unregister_broker.UnregisterBrokerResponse),
}


def decode_request(frame: Frame) -> Request:
    """The request that a frame carries."""
    return _MESSAGES[frame.api_key][0].decode(frame.payload, frame.api_version)


def answer_frame(frame: Frame, answer: Answer) -> Frame:
    """The frame that answers a request's."""
    if answer.error is not None:
        payload = _ERROR.pack(answer.error.code)
    else:
        payload = _ERROR.pack(ErrorCode.NONE) + answer.response.encode(frame.api_version)
    return frame._replace(source=frame.destination, destination=frame.source, is_request=False, payload=payload)


class ControllerClient:
    """Asks whoever the node's quorum part takes for the leader, or any controller if it knows of none."""

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
        """An answer came in; those to an earlier run of the process, and repeated ones, are for nobody."""
        if frame.run != self._raft.node.incarnation:
            return
        heard = self._waiting.pop(frame.correlation_id, None)
        if heard is None:
            return
        (error,) = _ERROR.unpack_from(frame.payload)
        if error:
            heard(error, None)
        else:
            heard(error, _MESSAGES[frame.api_key][1].decode(frame.payload[_ERROR.size :], frame.api_version))

    def _expire(self, correlation_id: int) -> None:
        heard = self._waiting.pop(correlation_id, None)
        if heard is not None:
            heard(ErrorCode.REQUEST_TIMED_OUT, None)
