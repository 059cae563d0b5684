"""AlterPartition (key 56): proposes a new ISR for partitions (KIP-497).

Sent by partition leaders to the controller. It is a compare-and-set on `partition_epoch`: INVALID_UPDATE_VERSION if
that moved on, and FENCED_LEADER_EPOCH or NEW_LEADER_ELECTED if the sender leads no more. v2 names topics by id
(KIP-841). v3 sends the broker epoch of each member (-1: don't check), so that a restarted broker can't slip in
(KIP-903); such a one, or a fenced one, is an INELIGIBLE_REPLICA. `leader_recovery_state` is 1 while an uncleanly
elected leader recovers (KIP-704).
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int8, int16, int32, int64, uuid


class BrokerState(Struct):
    broker_id: int = int32("3+")
    broker_epoch: int = int64("3+", default=-1)


class RequestPartitionData(Struct):
    partition_index: int = int32("0+")
    leader_epoch: int = int32("0+")
    new_isr: list[int] = array(int32, "0-2")
    new_isr_with_epochs: list[BrokerState] = array(BrokerState, "3+")
    leader_recovery_state: int = int8("1+")
    partition_epoch: int = int32("0+")


class RequestTopicData(Struct):
    topic_id: Uuid = uuid("2+", ignorable=True)
    partitions: list[RequestPartitionData] = array(RequestPartitionData, "0+")


class AlterPartitionRequest(Request, api=ApiKey.ALTER_PARTITION, versions="2-3", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+", default=-1)
    topics: list[RequestTopicData] = array(RequestTopicData, "0+")


class ResponsePartitionData(Struct):
    partition_index: int = int32("0+")
    error_code: int = int16("0+")
    leader_id: int = int32("0+")
    leader_epoch: int = int32("0+")
    isr: list[int] = array(int32, "0+")
    leader_recovery_state: int = int8("1+", ignorable=True)
    partition_epoch: int = int32("0+")


class ResponseTopicData(Struct):
    topic_id: Uuid = uuid("2+", ignorable=True)
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData, "0+")


class AlterPartitionResponse(Response, api=ApiKey.ALTER_PARTITION, versions="2-3", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    topics: list[ResponseTopicData] = array(ResponseTopicData, "0+")
