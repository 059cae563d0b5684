"""Metadata (key 3): describes brokers, topics and partition leaders.

Sent by every client; any broker answers from what it knows. In v0 an empty `topics` asks for all topics; from v1 null
asks for all and empty for none. v4 lets the client forbid auto-creation; a topic being created is first answered with
UNKNOWN_TOPIC_OR_PARTITION. v10 returns topic ids, but asking by id with a null `name` works only from v12 (KIP-516).
`controller_id` is just some live broker, since brokers forward. Authorized operations are -2147483648 unless asked
for (v8, KIP-430); the cluster's moved to DescribeCluster after v10. v13 adds a top-level error (KIP-1102).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, string, uuid


class MetadataRequestTopic(Struct):
    topic_id: Uuid = uuid("10+", ignorable=True)
    name: str | None = string("0+", nullable="10+")


class MetadataRequest(Request, api=ApiKey.METADATA, versions="0-13", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = array(MetadataRequestTopic, "0+", nullable="1+")
    allow_auto_topic_creation: bool = boolean("4+", default=True)
    include_cluster_authorized_operations: bool = boolean("8-10")
    include_topic_authorized_operations: bool = boolean("8+")


class MetadataResponseBroker(Struct):
    node_id: int = int32("0+")
    host: str = string("0+")
    port: int = int32("0+")
    rack: str | None = string("1+", nullable="1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: int = int16("0+")
    partition_index: int = int32("0+")
    leader_id: int = int32("0+")
    leader_epoch: int = int32("7+", default=-1, ignorable=True)
    replica_nodes: list[int] = array(int32, "0+")
    isr_nodes: list[int] = array(int32, "0+")
    offline_replicas: list[int] = array(int32, "5+", ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: int = int16("0+")
    name: str | None = string("0+", nullable="12+")
    topic_id: Uuid = uuid("10+", ignorable=True)
    is_internal: bool = boolean("1+", ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition, "0+")
    topic_authorized_operations: int = int32("8+", default=-2147483648)


class MetadataResponse(Response, api=ApiKey.METADATA, versions="0-13", flexible="9+"):
    throttle_time_ms: int = int32("3+", ignorable=True)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker, "0+")
    cluster_id: str | None = string("2+", nullable="2+", default=None, ignorable=True)
    controller_id: int = int32("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic, "0+")
    cluster_authorized_operations: int = int32("8-10", default=-2147483648)
    error_code: int = int16("13+", ignorable=True)
