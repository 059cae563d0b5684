"""DescribeLogDirs (key 35): shows what a broker's log directories hold (KIP-113).

Sent by admin clients to each broker of interest. Null `topics` asks for all. `offset_lag` is how far the log's end is
behind the high watermark, or for a future replica (`is_future_key`) behind the one it will replace. A failed
directory has KAFKA_STORAGE_ERROR. v3 adds a top-level error, v4 the volume's sizes (KIP-827), -1 if unknown, v5
whether the directory is cordoned (KIP-1066).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, boolean, int16, int32, int64, string


class DescribableLogDirTopic(Struct):
    topic: str = string("0+")
    partitions: list[int] = array(int32, "0+")


class DescribeLogDirsRequest(Request, api=ApiKey.DESCRIBE_LOG_DIRS, versions="1-5", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None = array(DescribableLogDirTopic, "0+", nullable="0+")


class DescribeLogDirsPartition(Struct):
    partition_index: int = int32("0+")
    partition_size: int = int64("0+")
    offset_lag: int = int64("0+")
    is_future_key: bool = boolean("0+")


class DescribeLogDirsTopic(Struct):
    name: str = string("0+")
    partitions: list[DescribeLogDirsPartition] = array(DescribeLogDirsPartition, "0+")


class DescribeLogDirsResult(Struct):
    error_code: int = int16("0+")
    log_dir: str = string("0+")
    topics: list[DescribeLogDirsTopic] = array(DescribeLogDirsTopic, "0+")
    total_bytes: int = int64("4+", default=-1, ignorable=True)
    usable_bytes: int = int64("4+", default=-1, ignorable=True)
    is_cordoned: bool = boolean("5+", ignorable=True)


class DescribeLogDirsResponse(Response, api=ApiKey.DESCRIBE_LOG_DIRS, versions="1-5", flexible="2+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("3+", ignorable=True)
    results: list[DescribeLogDirsResult] = array(DescribeLogDirsResult, "0+")
