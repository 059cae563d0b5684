"""Which calls each kind of listener answers, in which versions, and what it tells of them in ApiVersions.

The one place to add a call to: a line here, a module in `broker/handlers` (or `broker/controller_handlers`) named like
the key. Ranges are those of Apache Kafka 4.3. What is not here closes the connection, as an unknown key does.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.protocol.api_key import BROKER_APIS, CONTROLLER_APIS, ApiKey
from ottla.protocol.versions import VersionRange


class ServedApi(NamedTuple):
    """A call that a listener answers."""

    versions: VersionRange
    """What is answered."""
    advertised: VersionRange | None
    """What ApiVersions says; None if it keeps silent about the call."""


@dataclass(frozen=True)
class ApiTable:
    """What one kind of listener serves."""

    handlers: str
    """The package that has a module for each call."""
    served: Mapping[ApiKey, ServedApi]
    is_controller: bool


_VERSIONS: Final = {
    ApiKey.PRODUCE: "3-13",
    ApiKey.FETCH: "4-18",
    ApiKey.LIST_OFFSETS: "1-11",
    ApiKey.METADATA: "0-13",
    ApiKey.OFFSET_COMMIT: "2-10",
    ApiKey.OFFSET_FETCH: "1-10",
    ApiKey.FIND_COORDINATOR: "0-6",
    ApiKey.JOIN_GROUP: "0-9",
    ApiKey.HEARTBEAT: "0-4",
    ApiKey.LEAVE_GROUP: "0-5",
    ApiKey.SYNC_GROUP: "0-5",
    ApiKey.DESCRIBE_GROUPS: "0-6",
    ApiKey.LIST_GROUPS: "0-5",
    ApiKey.SASL_HANDSHAKE: "0-1",
    ApiKey.API_VERSIONS: "0-4",
    ApiKey.CREATE_TOPICS: "2-7",
    ApiKey.DELETE_TOPICS: "1-6",
    ApiKey.DELETE_RECORDS: "0-2",
    # v6 is unstable (KIP-939), and served by nobody who did not ask for `unstable.api.versions.enable`.
    ApiKey.INIT_PRODUCER_ID: "0-5",
    ApiKey.OFFSET_FOR_LEADER_EPOCH: "2-4",
    ApiKey.ADD_PARTITIONS_TO_TXN: "0-5",
    ApiKey.ADD_OFFSETS_TO_TXN: "0-4",
    ApiKey.END_TXN: "0-5",
    ApiKey.WRITE_TXN_MARKERS: "1-2",
    ApiKey.TXN_OFFSET_COMMIT: "0-5",
    ApiKey.DESCRIBE_ACLS: "1-3",
    ApiKey.CREATE_ACLS: "1-3",
    ApiKey.DELETE_ACLS: "1-3",
    ApiKey.DESCRIBE_CONFIGS: "1-4",
    ApiKey.ALTER_CONFIGS: "0-2",
    ApiKey.ALTER_REPLICA_LOG_DIRS: "1-2",
    ApiKey.DESCRIBE_LOG_DIRS: "1-5",
    ApiKey.SASL_AUTHENTICATE: "0-2",
    ApiKey.CREATE_PARTITIONS: "0-3",
    ApiKey.CREATE_DELEGATION_TOKEN: "1-3",
    ApiKey.RENEW_DELEGATION_TOKEN: "1-2",
    ApiKey.EXPIRE_DELEGATION_TOKEN: "1-2",
    ApiKey.DESCRIBE_DELEGATION_TOKEN: "1-3",
    ApiKey.DELETE_GROUPS: "0-2",
    ApiKey.ELECT_LEADERS: "0-2",
    ApiKey.INCREMENTAL_ALTER_CONFIGS: "0-1",
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: "0-1",
    ApiKey.LIST_PARTITION_REASSIGNMENTS: "0",
    ApiKey.OFFSET_DELETE: "0",
    ApiKey.DESCRIBE_CLIENT_QUOTAS: "0-1",
    ApiKey.ALTER_CLIENT_QUOTAS: "0-1",
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: "0",
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: "0",
    ApiKey.VOTE: "0-2",
    ApiKey.BEGIN_QUORUM_EPOCH: "0-1",
    ApiKey.END_QUORUM_EPOCH: "0-1",
    ApiKey.DESCRIBE_QUORUM: "0-2",
    ApiKey.ALTER_PARTITION: "2-3",
    ApiKey.UPDATE_FEATURES: "0-2",
    ApiKey.ENVELOPE: "0",
    ApiKey.FETCH_SNAPSHOT: "0-1",
    ApiKey.DESCRIBE_CLUSTER: "0-2",
    ApiKey.DESCRIBE_PRODUCERS: "0",
    ApiKey.BROKER_REGISTRATION: "0-4",
    ApiKey.BROKER_HEARTBEAT: "0-2",
    ApiKey.UNREGISTER_BROKER: "0",
    ApiKey.DESCRIBE_TRANSACTIONS: "0",
    ApiKey.LIST_TRANSACTIONS: "0-2",
    ApiKey.ALLOCATE_PRODUCER_IDS: "0",
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "0-1",
    ApiKey.CONSUMER_GROUP_DESCRIBE: "0-1",
    ApiKey.CONTROLLER_REGISTRATION: "0",
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: "0",
    ApiKey.PUSH_TELEMETRY: "0",
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: "0",
    ApiKey.LIST_CONFIG_RESOURCES: "0-1",
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: "0",
    ApiKey.ADD_RAFT_VOTER: "0-1",
    ApiKey.REMOVE_RAFT_VOTER: "0",
    ApiKey.UPDATE_RAFT_VOTER: "0",
}

_ADVERTISED_OTHERWISE: Final[Mapping[ApiKey, VersionRange | None]] = {
    # librdkafka does not compress for brokers whose range begins later (KAFKA-18659); v0 to v2 are closed all the same.
    ApiKey.PRODUCE: VersionRange(0, 13),
    # Without a receiver for their metrics clients need not know that they could send any.
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: None,
    ApiKey.PUSH_TELEMETRY: None,
}


def _served(apis: Iterable[ApiKey]) -> dict[ApiKey, ServedApi]:
    ranges = {api: VersionRange.parse(_VERSIONS[api]) for api in sorted(apis) if api in _VERSIONS}
    return {api: ServedApi(found, _ADVERTISED_OTHERWISE.get(api, found)) for api, found in ranges.items()}


BROKER_SERVED: Final = ApiTable("ottla.broker.handlers", _served(BROKER_APIS), is_controller=False)
"""Listeners for clients and other brokers."""

CONTROLLER_SERVED: Final = ApiTable("ottla.broker.controller_handlers", _served(CONTROLLER_APIS), is_controller=True)
"""Listeners named in `controller.listener.names`."""
