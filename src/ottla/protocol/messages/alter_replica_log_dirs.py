"""AlterReplicaLogDirs (key 34): moves replicas between the log directories of a broker (KIP-113).

Sent by admin clients to the broker that holds the replicas, never forwarded. `path` must be one of its log
directories. The answer comes when the move began: the broker builds a copy in a -future directory and swaps it in
when it caught up; DescribeLogDirs shows the progress.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, string


class AlterReplicaLogDirTopic(Struct):
    name: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class AlterReplicaLogDir(Struct):
    path: str = string("0+")
    topics: list[AlterReplicaLogDirTopic] = array(AlterReplicaLogDirTopic, "0+")


class AlterReplicaLogDirsRequest(Request, api=ApiKey.ALTER_REPLICA_LOG_DIRS, versions="1-2", flexible="2+"):
    dirs: list[AlterReplicaLogDir] = array(AlterReplicaLogDir, "0+")


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: str = string("0+")
    partitions: list[AlterReplicaLogDirPartitionResult] = array(AlterReplicaLogDirPartitionResult, "0+")


class AlterReplicaLogDirsResponse(Response, api=ApiKey.ALTER_REPLICA_LOG_DIRS, versions="1-2", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    results: list[AlterReplicaLogDirTopicResult] = array(AlterReplicaLogDirTopicResult, "0+")
