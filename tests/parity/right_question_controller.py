"""What is asked about rights of a controller's own listener.

Calls that brokers take, too, are asked as they are asked there. The others are between nodes, and each names another
cluster or a node that is not there: a mistake that is told only to a caller who was let through.
"""

import struct
from typing import Final

from ottla.base.ids import Uuid
from ottla.protocol.acl import AclOperation
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request
from ottla.protocol.frame import encode_request
from ottla.protocol.messages import alter_partition, assign_replicas_to_dirs, fetch_snapshot, vote
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_partition import AlterPartitionRequest
from ottla.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.protocol.messages.begin_quorum_epoch import BeginQuorumEpochRequest
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest, Feature
from ottla.protocol.messages.describe_cluster import DescribeClusterRequest
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest
from ottla.protocol.messages.end_quorum_epoch import EndQuorumEpochRequest
from ottla.protocol.messages.envelope import EnvelopeRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.fetch_snapshot import FetchSnapshotRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.messages.update_raft_voter import UpdateRaftVoterRequest
from ottla.protocol.messages.vote import VoteRequest
from tests.parity.right_question import QUESTIONS, Facts, Question, cluster, group, topic

_O: Final = AclOperation
_WRONG: Final = "b3R0bGEtd3JvbmctMDAwMQ"
"""A cluster's id, of another cluster."""
_STRANGER: Final = 99
_METADATA: Final = "__cluster_metadata"
_BETWEEN_NODES: Final = cluster(_O.CLUSTER_ACTION, _O.ALTER)
_AS_BROKERS: Final = frozenset({
    ApiKey.CREATE_TOPICS, ApiKey.DELETE_TOPICS, ApiKey.DESCRIBE_ACLS, ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS,
    ApiKey.ALTER_CONFIGS, ApiKey.CREATE_PARTITIONS, ApiKey.ELECT_LEADERS,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS, ApiKey.LIST_PARTITION_REASSIGNMENTS, ApiKey.ALTER_CLIENT_QUOTAS,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS, ApiKey.DESCRIBE_QUORUM, ApiKey.UPDATE_FEATURES, ApiKey.UNREGISTER_BROKER,
    ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER,
})  # fmt: skip
_NO_FACTS: Final = Facts(Uuid(bytes(16)), Uuid(bytes(16)), 1)


def _principal(name: str) -> bytes:
    """As brokers write it: version 0, with compact strings."""
    encoded = [bytes([len(text) + 1]) + text.encode() for text in ("User", name)]
    return struct.pack(">h", 0) + b"".join(encoded) + b"\0\0"


def _envelope(host: str, request: Request) -> EnvelopeRequest:
    inner = encode_request(request, 0, correlation_id=3, client_id="inner")
    address = bytes(map(int, host.split(".")))
    return EnvelopeRequest(request_data=inner[4:], request_principal=_principal("alice"), client_host_address=address)


CONTROLLER_QUESTIONS: Final[tuple[Question, ...]] = (
    *(question for question in QUESTIONS if question.make(_NO_FACTS).api in _AS_BROKERS),
    Question(
        "alter configs and loggers incrementally",
        1,
        lambda _: IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=kind,
                    resource_name=name,
                    configs=[AlterableConfig(name=key, config_operation=0, value=value)],
                )
                for kind, name, key, value in (
                    (2, "seen", "retention.ms", "5"),
                    (32, "group", "consumer.session.timeout.ms", "50000"),
                    (16, "metrics", "interval.ms", "60000"),
                    (8, "1", "kafka", "INFO"),
                )
            ],
            validate_only=True,
        ),
        (
            *topic("seen", _O.ALTER_CONFIGS),
            *cluster(_O.ALTER_CONFIGS, _O.CLUSTER_ACTION, _O.ALTER),
            *group(_O.ALTER_CONFIGS),
        ),
    ),
    Question(
        "describe configs of a controller",
        4,
        lambda _: DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=["retention.ms"])
                for kind, name in ((2, "seen"), (4, "1"), (8, "1"), (32, "group"))
            ]
        ),
        (*topic("seen", _O.DESCRIBE_CONFIGS), *cluster(_O.DESCRIBE_CONFIGS), *group(_O.DESCRIBE_CONFIGS)),
    ),
    Question(
        "describe the controllers",
        1,
        lambda _: DescribeClusterRequest(include_cluster_authorized_operations=True, endpoint_type=2),
        cluster(_O.ALTER, _O.DESCRIBE),
    ),
    Question(
        "fetch metadata",
        17,
        lambda _: FetchRequest(
            cluster_id=_WRONG,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=[FetchTopic(topic=_METADATA, topic_id=Uuid(bytes(15) + b"\1"), partitions=[FetchPartition()])],
        ),
        (*_BETWEEN_NODES, *topic(_METADATA, _O.READ)),
    ),
    Question(
        "fetch a snapshot",
        1,
        lambda _: FetchSnapshotRequest(
            cluster_id=_WRONG,
            topics=[
                fetch_snapshot.RequestTopicSnapshot(
                    name=_METADATA,
                    partitions=[
                        fetch_snapshot.RequestPartitionSnapshot(
                            partition=0, snapshot_id=fetch_snapshot.SnapshotId(end_offset=1, epoch=1)
                        )
                    ],
                )
            ],
        ),
        _BETWEEN_NODES,
    ),
    Question(
        "vote",
        1,
        lambda _: VoteRequest(
            cluster_id=_WRONG,
            topics=[
                vote.RequestTopicData(
                    topic_name=_METADATA, partitions=[vote.RequestPartitionData(replica_id=_STRANGER)]
                )
            ],
        ),
        _BETWEEN_NODES,
    ),
    Question("begin an epoch", 1, lambda _: BeginQuorumEpochRequest(cluster_id=_WRONG), _BETWEEN_NODES),
    Question("end an epoch", 1, lambda _: EndQuorumEpochRequest(cluster_id=_WRONG), _BETWEEN_NODES),
    Question(
        "alter a partition",
        3,
        lambda facts: AlterPartitionRequest(
            broker_id=_STRANGER,
            broker_epoch=1,
            topics=[alter_partition.RequestTopicData(topic_id=facts.seen)],
        ),
        _BETWEEN_NODES,
    ),
    Question(
        "register a broker",
        4,
        lambda _: BrokerRegistrationRequest(
            broker_id=_STRANGER, cluster_id=_WRONG, incarnation_id=Uuid(bytes(15) + b"9"), rack=None
        ),
        _BETWEEN_NODES,
    ),
    Question(
        "a broker's heartbeat",
        1,
        lambda _: BrokerHeartbeatRequest(broker_id=_STRANGER, broker_epoch=1),
        _BETWEEN_NODES,
    ),
    Question(
        "register a controller",
        0,
        lambda _: ControllerRegistrationRequest(
            controller_id=_STRANGER,
            incarnation_id=Uuid(bytes(15) + b"9"),
            features=[Feature(name="metadata.version", min_supported_version=1, max_supported_version=1)],
        ),
        _BETWEEN_NODES,
    ),
    Question("producer ids", 0, lambda _: AllocateProducerIdsRequest(broker_id=_STRANGER), _BETWEEN_NODES),
    Question(
        "assign directories",
        0,
        lambda facts: AssignReplicasToDirsRequest(
            broker_id=_STRANGER,
            broker_epoch=1,
            directories=[
                assign_replicas_to_dirs.RequestDirectoryData(
                    id=Uuid(bytes(15) + b"9"),
                    topics=[
                        assign_replicas_to_dirs.RequestTopicData(
                            topic_id=facts.seen,
                            partitions=[assign_replicas_to_dirs.RequestPartitionData(partition_index=0)],
                        )
                    ],
                )
            ],
        ),
        _BETWEEN_NODES,
    ),
    Question(
        "update a voter",
        0,
        lambda _: UpdateRaftVoterRequest(
            cluster_id=_WRONG, current_leader_epoch=1, voter_id=_STRANGER, voter_directory_id=Uuid(bytes(15) + b"9")
        ),
        _BETWEEN_NODES,
    ),
    Question(
        "an envelope of one who may not", 0, lambda _: _envelope("203.0.113.7", DescribeQuorumRequest()), _BETWEEN_NODES
    ),
    Question(
        "an envelope of one who may",
        0,
        lambda _: _envelope("127.0.0.1", ListPartitionReassignmentsRequest()),
        _BETWEEN_NODES,
    ),
)
