"""The one table of calls: versions, who answers, the right that is needed, and the throttle.

A call that only passes requests on is a row here and nothing else. One that has something to decide has a module named
like its key, in the room of `broker/handlers` that its row names or in `broker/controller_handlers`. Ranges are those
of Apache Kafka 4.3. What is not here closes the connection, as an unknown key does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.broker.request.answerer import (
    CONFIG_HANDLER,
    CONTROLLER,
    DATA_HANDLER,
    FORWARDED,
    GROUP_HANDLER,
    GROUPS,
    HANDLER,
    METADATA_HANDLER,
    QUORUM,
    SECURITY_HANDLER,
    TRANSACTION_HANDLER,
    TRANSACTIONS,
    Answerer,
)
from ottla.broker.request.needed_right import BY_ITEM, NOTHING, Right, cluster, group, transactional
from ottla.broker.request.throttle import BETWEEN_NODES, FETCH, PRODUCE, REQUEST, Throttle, mutation
from ottla.protocol.acl import AclOperation
from ottla.protocol.api_key import ApiKey
from ottla.protocol.versions import VersionRange

_READ, _WRITE, _DELETE, _ALTER = AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER
_DESCRIBE, _CLUSTER_ACTION = AclOperation.DESCRIBE, AclOperation.CLUSTER_ACTION
_DESCRIBE_CONFIGS, _ALTER_CONFIGS = AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS


class Row(NamedTuple):
    """All about one call."""

    versions: str
    broker: Answerer | None
    """The answerer on listeners for clients and other brokers; None where it is not served."""
    controller: Answerer | None
    """The answerer on listeners named in `controller.listener.names`."""
    right: Right = NOTHING
    """The right that the caller needs, wherever the call is answered and not only forwarded."""
    throttle: Throttle = REQUEST


class ServedApi(NamedTuple):
    """A call that a listener answers."""

    versions: VersionRange
    """The versions that are answered."""
    advertised: VersionRange | None
    """The versions in ApiVersions; None if it leaves the call out."""
    answerer: Answerer = HANDLER
    right: Right = NOTHING
    throttle: Throttle = REQUEST


@dataclass(frozen=True)
class ApiTable:
    """The calls of one kind of listener."""

    handlers: str
    """The package that has a module for each call that is answered by one."""
    served: Mapping[ApiKey, ServedApi]
    is_controller: bool


API_ROWS: Final[Mapping[ApiKey, Row]] = {
    # key: versions, at brokers, at controllers, right, throttle
    ApiKey.PRODUCE: Row("3-13", DATA_HANDLER, None, BY_ITEM, PRODUCE),
    ApiKey.FETCH: Row("4-18", DATA_HANDLER, QUORUM, BY_ITEM, FETCH),
    ApiKey.LIST_OFFSETS: Row("1-11", DATA_HANDLER, None, BY_ITEM),
    ApiKey.METADATA: Row("0-13", METADATA_HANDLER, None, BY_ITEM),
    ApiKey.OFFSET_COMMIT: Row("2-10", GROUP_HANDLER, None, group(_READ)),
    ApiKey.OFFSET_FETCH: Row("1-10", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.FIND_COORDINATOR: Row("0-6", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.JOIN_GROUP: Row("0-9", GROUPS, None, group(_READ)),
    ApiKey.HEARTBEAT: Row("0-4", GROUPS, None, group(_READ)),
    ApiKey.LEAVE_GROUP: Row("0-5", GROUPS, None, group(_READ)),
    ApiKey.SYNC_GROUP: Row("0-5", GROUPS, None, group(_READ)),
    ApiKey.DESCRIBE_GROUPS: Row("0-6", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.LIST_GROUPS: Row("0-5", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.SASL_HANDSHAKE: Row("0-1", SECURITY_HANDLER, HANDLER),
    ApiKey.API_VERSIONS: Row("0-4", METADATA_HANDLER, HANDLER),
    ApiKey.CREATE_TOPICS: Row("2-7", FORWARDED, CONTROLLER, BY_ITEM, mutation(strict_since=6)),
    ApiKey.DELETE_TOPICS: Row("1-6", FORWARDED, CONTROLLER, BY_ITEM, mutation(strict_since=5)),
    ApiKey.DELETE_RECORDS: Row("0-2", DATA_HANDLER, None, BY_ITEM),
    # v6 is unstable (KIP-939), and served by nobody who did not ask for `unstable.api.versions.enable`.
    ApiKey.INIT_PRODUCER_ID: Row("0-5", TRANSACTION_HANDLER, None, BY_ITEM),
    ApiKey.OFFSET_FOR_LEADER_EPOCH: Row("2-4", DATA_HANDLER, None, BY_ITEM),
    ApiKey.ADD_PARTITIONS_TO_TXN: Row("0-5", TRANSACTION_HANDLER, None, BY_ITEM),
    ApiKey.ADD_OFFSETS_TO_TXN: Row("0-4", TRANSACTION_HANDLER, None, transactional(_WRITE)),
    ApiKey.END_TXN: Row("0-5", TRANSACTIONS, None, transactional(_WRITE)),
    ApiKey.WRITE_TXN_MARKERS: Row("1-2", TRANSACTION_HANDLER, None, cluster(_ALTER, _CLUSTER_ACTION), BETWEEN_NODES),
    ApiKey.TXN_OFFSET_COMMIT: Row("0-5", TRANSACTION_HANDLER, None, transactional(_WRITE)),
    ApiKey.DESCRIBE_ACLS: Row("1-3", SECURITY_HANDLER, HANDLER, cluster(_DESCRIBE)),
    ApiKey.CREATE_ACLS: Row("1-3", SECURITY_HANDLER, HANDLER, cluster(_ALTER)),
    ApiKey.DELETE_ACLS: Row("1-3", SECURITY_HANDLER, HANDLER, cluster(_ALTER)),
    ApiKey.DESCRIBE_CONFIGS: Row("1-4", CONFIG_HANDLER, HANDLER, BY_ITEM),
    ApiKey.ALTER_CONFIGS: Row("0-2", CONFIG_HANDLER, CONTROLLER, BY_ITEM),
    ApiKey.ALTER_REPLICA_LOG_DIRS: Row("1-2", DATA_HANDLER, None, cluster(_ALTER)),
    ApiKey.DESCRIBE_LOG_DIRS: Row("1-5", DATA_HANDLER, None, cluster(_DESCRIBE)),
    ApiKey.SASL_AUTHENTICATE: Row("0-2", SECURITY_HANDLER, HANDLER),
    ApiKey.CREATE_PARTITIONS: Row("0-3", FORWARDED, CONTROLLER, BY_ITEM, mutation(strict_since=3)),
    ApiKey.CREATE_DELEGATION_TOKEN: Row("1-3", SECURITY_HANDLER, HANDLER),
    ApiKey.RENEW_DELEGATION_TOKEN: Row("1-2", SECURITY_HANDLER, HANDLER),
    ApiKey.EXPIRE_DELEGATION_TOKEN: Row("1-2", SECURITY_HANDLER, HANDLER),
    ApiKey.DESCRIBE_DELEGATION_TOKEN: Row("1-3", SECURITY_HANDLER, HANDLER),
    ApiKey.DELETE_GROUPS: Row("0-2", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.ELECT_LEADERS: Row("0-2", FORWARDED, CONTROLLER, cluster(_ALTER)),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: Row("0-1", CONFIG_HANDLER, HANDLER, BY_ITEM),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: Row("0-1", FORWARDED, CONTROLLER, cluster(_ALTER)),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Row("0", FORWARDED, CONTROLLER, cluster(_DESCRIBE)),
    ApiKey.OFFSET_DELETE: Row("0", GROUP_HANDLER, None, group(_DELETE)),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: Row("0-1", CONFIG_HANDLER, None, cluster(_DESCRIBE_CONFIGS)),
    ApiKey.ALTER_CLIENT_QUOTAS: Row("0-1", FORWARDED, CONTROLLER, cluster(_ALTER_CONFIGS)),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: Row("0", SECURITY_HANDLER, HANDLER, cluster(_DESCRIBE)),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: Row("0", FORWARDED, CONTROLLER, cluster(_ALTER)),
    ApiKey.VOTE: Row("0-2", None, QUORUM, cluster(_CLUSTER_ACTION)),
    ApiKey.BEGIN_QUORUM_EPOCH: Row("0-1", None, QUORUM, cluster(_CLUSTER_ACTION)),
    ApiKey.END_QUORUM_EPOCH: Row("0-1", None, QUORUM, cluster(_CLUSTER_ACTION)),
    ApiKey.DESCRIBE_QUORUM: Row("0-2", FORWARDED, HANDLER, cluster(_DESCRIBE)),
    ApiKey.ALTER_PARTITION: Row("2-3", None, CONTROLLER, cluster(_CLUSTER_ACTION), BETWEEN_NODES),
    ApiKey.UPDATE_FEATURES: Row("0-2", FORWARDED, CONTROLLER, cluster(_ALTER)),
    ApiKey.ENVELOPE: Row("0", None, HANDLER, cluster(_CLUSTER_ACTION), BETWEEN_NODES),
    ApiKey.FETCH_SNAPSHOT: Row("0-1", None, QUORUM, cluster(_CLUSTER_ACTION)),
    ApiKey.DESCRIBE_CLUSTER: Row("0-2", METADATA_HANDLER, HANDLER, BY_ITEM),
    ApiKey.DESCRIBE_PRODUCERS: Row("0", TRANSACTION_HANDLER, None, BY_ITEM),
    ApiKey.BROKER_REGISTRATION: Row("0-4", None, CONTROLLER, cluster(_CLUSTER_ACTION)),
    ApiKey.BROKER_HEARTBEAT: Row("0-2", None, CONTROLLER, cluster(_CLUSTER_ACTION)),
    ApiKey.UNREGISTER_BROKER: Row("0", FORWARDED, CONTROLLER, cluster(_ALTER)),
    ApiKey.DESCRIBE_TRANSACTIONS: Row("0", TRANSACTION_HANDLER, None, BY_ITEM),
    ApiKey.LIST_TRANSACTIONS: Row("0-2", TRANSACTION_HANDLER, None, BY_ITEM),
    ApiKey.ALLOCATE_PRODUCER_IDS: Row("0", None, CONTROLLER, cluster(_CLUSTER_ACTION), BETWEEN_NODES),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: Row("0-1", GROUP_HANDLER, None, group(_READ)),
    ApiKey.CONSUMER_GROUP_DESCRIBE: Row("0-1", GROUP_HANDLER, None, BY_ITEM),
    ApiKey.CONTROLLER_REGISTRATION: Row("0", None, CONTROLLER, cluster(_CLUSTER_ACTION)),
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: Row("0", CONFIG_HANDLER, None),
    ApiKey.PUSH_TELEMETRY: Row("0", CONFIG_HANDLER, None),
    ApiKey.ASSIGN_REPLICAS_TO_DIRS: Row("0", None, CONTROLLER, cluster(_CLUSTER_ACTION), BETWEEN_NODES),
    ApiKey.LIST_CONFIG_RESOURCES: Row("0-1", CONFIG_HANDLER, None, cluster(_DESCRIBE_CONFIGS)),
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: Row("0", METADATA_HANDLER, None, BY_ITEM),
    ApiKey.ADD_RAFT_VOTER: Row("0-1", FORWARDED, QUORUM, cluster(_ALTER)),
    ApiKey.REMOVE_RAFT_VOTER: Row("0", FORWARDED, QUORUM, cluster(_ALTER)),
    ApiKey.UPDATE_RAFT_VOTER: Row("0", None, QUORUM, cluster(_CLUSTER_ACTION), BETWEEN_NODES),
}

_CONTROLLER_RIGHTS: Final[Mapping[ApiKey, Right]] = {
    ApiKey.DESCRIBE_CLUSTER: cluster(_ALTER),
    ApiKey.FETCH: cluster(_CLUSTER_ACTION),
}
"""Calls that need another right on the controllers' listeners than on the brokers'."""

_ADVERTISED_OTHERWISE: Final[Mapping[ApiKey, VersionRange | None]] = {
    # librdkafka does not compress for brokers whose range begins later (KAFKA-18659); v0 to v2 are closed all the same.
    ApiKey.PRODUCE: VersionRange(0, 13),
    # Without a receiver for their metrics clients need not know that they could send any.
    ApiKey.GET_TELEMETRY_SUBSCRIPTIONS: None,
    ApiKey.PUSH_TELEMETRY: None,
}


def _served(*, is_controller: bool) -> dict[ApiKey, ServedApi]:
    served = {}
    for api, row in API_ROWS.items():
        answerer = row.controller if is_controller else row.broker
        if answerer is None:
            continue
        versions = VersionRange.parse(row.versions)
        right = _CONTROLLER_RIGHTS.get(api, row.right) if is_controller else row.right
        advertised = _ADVERTISED_OTHERWISE.get(api, versions)
        served[api] = ServedApi(versions, advertised, answerer, right, row.throttle)
    return served


BROKER_SERVED: Final = ApiTable("ottla.broker.handlers", _served(is_controller=False), is_controller=False)
"""Listeners for clients and other brokers."""

CONTROLLER_SERVED: Final = ApiTable("ottla.broker.controller_handlers", _served(is_controller=True), is_controller=True)
"""Listeners named in `controller.listener.names`."""
