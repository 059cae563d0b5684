"""The maximal number of elements in a request: a name, a partition, a replica each count as one.

Requests are read in one go, so the largest of them decides how long all others wait. No ordinary client comes near
these limits, not in a cluster of 5,000 topics with 40 partitions each. Apache Kafka has none: a request with millions
of names keeps one of its threads busy for half a minute. A request beyond its limit closes its connection.
"""

from collections.abc import Mapping
from typing import Final

from ottla.protocol.api_key import ApiKey

_ELEMENTS_MAX: Final = 50_000
"""Changes of the cluster's metadata need less: Apache Kafka refuses operations of more than 10,000 records. Nor does
any client name more groups, users or transactions at a time, or put that many batches into one Produce."""
_BY_CONFIG: Final = 20_000
"""10,000 resources or users with a change each: every one of them is checked by the broker, and again by the
controller."""
_BY_PARTITION: Final = 250_000
"""Calls that may name every partition of a cluster of 200,000."""
_BY_LEADER: Final = 100_000
"""Calls that name what one broker leads, or what the controller can change at a time."""
_BY_REPLICA: Final = 1_000_000
"""The brokers' reports about each replica of a partition."""

_EXCEPTIONS: Final[Mapping[ApiKey, int]] = {
    ApiKey.ALTER_PARTITION: _BY_REPLICA,
    ApiKey.FETCH: _BY_LEADER,
    ApiKey.ELECT_LEADERS: _BY_LEADER,
    ApiKey.WRITE_TXN_MARKERS: _BY_LEADER,
    ApiKey.TXN_OFFSET_COMMIT: _BY_LEADER,
    ApiKey.ALTER_CONFIGS: _BY_CONFIG,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _BY_CONFIG,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _BY_CONFIG,
    **dict.fromkeys(
        (
            ApiKey.LIST_OFFSETS,
            ApiKey.METADATA,
            ApiKey.OFFSET_COMMIT,
            ApiKey.OFFSET_FETCH,
            ApiKey.OFFSET_DELETE,
            ApiKey.CONSUMER_GROUP_HEARTBEAT,
            ApiKey.OFFSET_FOR_LEADER_EPOCH,
            ApiKey.DELETE_RECORDS,
            ApiKey.DESCRIBE_CONFIGS,
            ApiKey.DESCRIBE_LOG_DIRS,
            ApiKey.ALTER_REPLICA_LOG_DIRS,
            ApiKey.DESCRIBE_PRODUCERS,
            ApiKey.LIST_PARTITION_REASSIGNMENTS,
            ApiKey.ASSIGN_REPLICAS_TO_DIRS,
        ),
        _BY_PARTITION,
    ),
}


def elements_max(api: ApiKey) -> int:
    """The maximal number of elements in all arrays of a request together."""
    return _EXCEPTIONS.get(api, _ELEMENTS_MAX)
