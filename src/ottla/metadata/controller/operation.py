"""Which request is whose: the table from request types to the functions that carry them out."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ottla.metadata.controller.broker.broker_fencing import unregister_broker
from ottla.metadata.controller.broker.broker_heartbeat import broker_heartbeat
from ottla.metadata.controller.broker.broker_registration import register_broker
from ottla.metadata.controller.broker.controller_registration import register_controller
from ottla.metadata.controller.broker.directory_assignment import assign_replicas_to_dirs
from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.resource.acl import create_acls, delete_acls
from ottla.metadata.controller.resource.client_quota import alter_client_quotas
from ottla.metadata.controller.resource.config_request import alter_configs, incremental_alter_configs
from ottla.metadata.controller.resource.delegation_token import (
    create_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from ottla.metadata.controller.resource.feature_update import update_features
from ottla.metadata.controller.resource.producer_id import allocate_producer_ids
from ottla.metadata.controller.resource.scram import alter_user_scram_credentials
from ottla.metadata.controller.topic.leader_election import elect_leaders
from ottla.metadata.controller.topic.partition_alteration import alter_partition
from ottla.metadata.controller.topic.partition_creation import create_partitions
from ottla.metadata.controller.topic.reassignment import alter_partition_reassignments, list_partition_reassignments
from ottla.metadata.controller.topic.topic_creation import create_topics
from ottla.metadata.controller.topic.topic_deletion import delete_topics
from ottla.protocol.definition import Request
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from ottla.protocol.messages.alter_configs import AlterConfigsRequest
from ottla.protocol.messages.alter_partition import AlterPartitionRequest
from ottla.protocol.messages.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ottla.protocol.messages.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from ottla.protocol.messages.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration import BrokerRegistrationRequest
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest
from ottla.protocol.messages.create_acls import CreateAclsRequest
from ottla.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from ottla.protocol.messages.create_partitions import CreatePartitionsRequest
from ottla.protocol.messages.create_topics import CreateTopicsRequest
from ottla.protocol.messages.delete_acls import DeleteAclsRequest
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest
from ottla.protocol.messages.elect_leaders import ElectLeadersRequest
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from ottla.protocol.messages.unregister_broker import UnregisterBrokerRequest
from ottla.protocol.messages.update_features import UpdateFeaturesRequest

Operation = Callable[[ControllerContext, Any, Caller], ControllerResult[Any]]


def _whoever_asks(operation: Callable[[ControllerContext, Any], ControllerResult[Any]]) -> Operation:
    return lambda context, request, caller: operation(context, request)


OPERATIONS: Final[Mapping[type[Request], Operation]] = {
    AllocateProducerIdsRequest: _whoever_asks(allocate_producer_ids),
    AlterClientQuotasRequest: _whoever_asks(alter_client_quotas),
    AlterConfigsRequest: alter_configs,
    AlterPartitionReassignmentsRequest: _whoever_asks(alter_partition_reassignments),
    AlterPartitionRequest: _whoever_asks(alter_partition),
    AlterUserScramCredentialsRequest: _whoever_asks(alter_user_scram_credentials),
    AssignReplicasToDirsRequest: _whoever_asks(assign_replicas_to_dirs),
    BrokerHeartbeatRequest: _whoever_asks(broker_heartbeat),
    BrokerRegistrationRequest: register_broker,
    ControllerRegistrationRequest: _whoever_asks(register_controller),
    CreateAclsRequest: _whoever_asks(create_acls),
    CreateDelegationTokenRequest: create_delegation_token,
    CreatePartitionsRequest: create_partitions,
    CreateTopicsRequest: create_topics,
    DeleteAclsRequest: _whoever_asks(delete_acls),
    DeleteTopicsRequest: delete_topics,
    ElectLeadersRequest: _whoever_asks(elect_leaders),
    ExpireDelegationTokenRequest: expire_delegation_token,
    IncrementalAlterConfigsRequest: incremental_alter_configs,
    ListPartitionReassignmentsRequest: _whoever_asks(list_partition_reassignments),
    RenewDelegationTokenRequest: renew_delegation_token,
    UnregisterBrokerRequest: _whoever_asks(unregister_broker),
    UpdateFeaturesRequest: update_features,
}
"""Every request that the active controller answers."""
