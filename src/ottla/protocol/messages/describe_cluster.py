"""DescribeCluster (key 60): shows the cluster's id and its nodes (KIP-700).

Sent by admin clients to brokers or controllers. `endpoint_type` (v1, KIP-919) is 1 for brokers, 2 for controllers,
and must fit the listener, else MISMATCHED_ENDPOINT_TYPE. A controller returns the quorum's leader as `controller_id`,
a broker just some live broker. v2 can list fenced brokers too (KIP-1073). Authorized operations are -2147483648
unless asked for.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int8, int16, int32, string


class DescribeClusterRequest(Request, api=ApiKey.DESCRIBE_CLUSTER, versions="0-2", flexible="0+"):
    include_cluster_authorized_operations: bool = boolean("0+")
    endpoint_type: int = int8("1+", default=1)
    include_fenced_brokers: bool = boolean("2+")


class DescribeClusterBroker(Struct):
    broker_id: int = int32("0+")
    host: str = string("0+")
    port: int = int32("0+")
    rack: str | None = string("0+", nullable="0+", default=None)
    is_fenced: bool = boolean("2+")


class DescribeClusterResponse(Response, api=ApiKey.DESCRIBE_CLUSTER, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+", default=None)
    endpoint_type: int = int8("1+", default=1)
    cluster_id: str = string("0+")
    controller_id: int = int32("0+", default=-1)
    brokers: list[DescribeClusterBroker] = array(DescribeClusterBroker, "0+")
    cluster_authorized_operations: int = int32("0+", default=-2147483648)
