"""The requests that a simulated broker answers, each by the coordinator that it is for.

Watches over refusals as well: an operation that is answered with an error must leave the state as it was.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.group.offsets.refusal import refused_transactional
from ottla.coordinator.ports import PartitionKey, TransactionalProducer
from ottla.coordinator.runtime.append_error import seen_by_client
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.txn.txn_coordinator import TxnCoordinator
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ApiError, ErrorCode, error_for
from ottla.protocol.messages.list_groups import ListGroupsResponse
from ottla.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.storage.log.append_info import AppendOptions
from ottla.testing.simulation.coordinator.broker import BrokerPart, BrokerRequest
from ottla.testing.simulation.coordinator.history import ChangedRefusal, OffsetAnswer
from ottla.testing.simulation.coordinator.image import OFFSETS, TRANSACTIONS
from ottla.testing.simulation.coordinator.marker import markers_of, response_of
from ottla.testing.simulation.coordinator.transaction_gate import TransactionalWrite

_PRODUCE_ADDS_SINCE: Final = 12
_COMMIT_ADDS_SINCE: Final = 5
_UNKNOWN_OUTCOME: Final = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR}
)
"""Not refusals: the log was lost, or is late, and nobody knows what became of the operation."""

_COME_AGAIN: Final = frozenset(
    {
        (ApiKey.INIT_PRODUCER_ID, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ApiKey.JOIN_GROUP, ErrorCode.MEMBER_ID_REQUIRED),
    }
)
"""Half of what was asked for: an open transaction is being aborted, a new group is there and has an id to join with."""


def handle(broker: BrokerPart, request: BrokerRequest) -> None:
    """Answers a request, now or later."""
    _HANDLERS[ApiKey(request.frame.api_key)](broker, request)


def _group(method: Callable[..., None], broker: BrokerPart, request: BrokerRequest) -> None:
    """A request for the group coordinator, by its method."""
    key = PartitionKey(OFFSETS, broker.groups.partition_for(request.message.group_id))
    call = partial(method, broker.groups, request.message, request.caller, broker.now_ms)
    _watched(broker, request, key, call, request.answer)


def _transaction(method: Callable[..., None], broker: BrokerPart, request: BrokerRequest) -> None:
    """A request for the transaction coordinator, by its method."""
    key = PartitionKey(TRANSACTIONS, broker.transactions.partition_for(request.message.transactional_id))
    call = partial(method, broker.transactions, request.message, request.frame.api_version, broker.now_ms)
    _watched(broker, request, key, call, request.answer)


def _add_partitions(broker: BrokerPart, request: BrokerRequest) -> None:
    message, version = request.message, request.frame.api_version
    entries = message.transactions
    transactional_id = entries[0].transactional_id if entries else message.v3_and_below_transactional_id
    key = PartitionKey(TRANSACTIONS, broker.transactions.partition_for(transactional_id))
    call = partial(broker.transactions.add_partitions_to_txn, message, version, broker.now_ms)
    _watched(broker, request, key, call, request.answer)


def _read(method: Callable[..., None], broker: BrokerPart, request: BrokerRequest) -> None:
    """A request for the group coordinator that is not about one group, or changes nothing."""
    method(broker.groups, request.message, request.caller, broker.now_ms, request.answer)


def _list_groups(broker: BrokerPart, request: BrokerRequest) -> None:
    try:
        pages = broker.groups.list_groups(request.message)
    except ApiError as error:
        request.answer(ListGroupsResponse(error_code=error.code))
    else:
        request.answer(ListGroupsResponse(groups=[group for page in pages for group in page]))


def _list_transactions(broker: BrokerPart, request: BrokerRequest) -> None:
    request.answer(broker.transactions.list_transactions(request.message, broker.now_ms))


def _describe_transactions(broker: BrokerPart, request: BrokerRequest) -> None:
    request.answer(broker.transactions.describe_transactions(request.message))


def _offset_commit(broker: BrokerPart, request: BrokerRequest) -> None:
    message, history = request.message, broker.outside.history

    def answer(response: Any) -> None:
        codes = {
            (topic.name, partition.partition_index): partition.error_code
            for topic in response.topics
            for partition in topic.partitions
        }
        for topic in message.topics:
            for partition in topic.partitions:
                if codes[topic.name, partition.partition_index] == ErrorCode.NONE:
                    key = PartitionKey(topic.name, partition.partition_index)
                    history.offset_answers.append(OffsetAnswer(message.group_id, key, partition.committed_offset))
        request.answer(response)

    key = PartitionKey(OFFSETS, broker.groups.partition_for(message.group_id))
    call = partial(broker.groups.offset_commit, message, request.caller, broker.now_ms)
    _watched(broker, request, key, call, answer)


def _txn_offset_commit(broker: BrokerPart, request: BrokerRequest) -> None:
    """As a broker does it: the transaction is verified first, then the offsets are stored."""
    message: TxnOffsetCommitRequest = request.message
    key = PartitionKey(OFFSETS, broker.groups.partition_for(message.group_id))

    def refuse(code: int) -> None:
        request.answer(refused_transactional(message, int(seen_by_client(error_for(code)).code)))

    def cleared(how: AppendOptions | ErrorCode) -> None:
        if isinstance(how, ErrorCode):
            refuse(how)
            return
        producer = TransactionalProducer(message.transactional_id, message.producer_id, message.producer_epoch, how)
        call = partial(broker.groups.txn_offset_commit, message, request.caller, producer, broker.now_ms)
        _watched(broker, request, key, call, request.answer)

    options = BatchOptions(
        producer_id=message.producer_id,
        producer_epoch=message.producer_epoch,
        base_sequence=0,
        is_transactional=True,
    )
    adds = request.frame.api_version >= _COMMIT_ADDS_SINCE
    write = TransactionalWrite(key, message.transactional_id, Batch(write_batch([], options)), adds)
    try:
        broker.gate.clear(broker.replicas.log(key), write, cleared)
    except ApiError as error:
        refuse(error.code)


def _produce(broker: BrokerPart, request: BrokerRequest) -> None:
    """One batch of one transaction for one partition, acks=all."""
    message = request.message
    [topic] = message.topic_data
    [data] = topic.partition_data
    key = PartitionKey(topic.name, data.index)
    records = bytearray(data.records)

    def answer(error: ApiError | None) -> None:
        partition = PartitionProduceResponse(index=data.index, error_code=0 if error is None else int(error.code))
        request.answer(
            ProduceResponse(responses=[TopicProduceResponse(name=topic.name, partition_responses=[partition])])
        )

    def cleared(how: AppendOptions | ErrorCode) -> None:
        if isinstance(how, ErrorCode):
            answer(error_for(how))
            return
        try:
            end_offset = broker.replicas.append(key, records, how)
            broker.replicas.when_committed(key, end_offset, answer)
        except ApiError as error:
            answer(error)

    adds = request.frame.api_version >= _PRODUCE_ADDS_SINCE
    write = TransactionalWrite(key, message.transactional_id, Batch(records), adds)
    try:
        broker.gate.clear(broker.replicas.log(key), write, cleared)
    except ApiError as error:
        answer(error)


def _write_markers(broker: BrokerPart, request: BrokerRequest) -> None:
    message = request.message
    broker.markers.write(markers_of(message), lambda errors: request.answer(response_of(message, errors)))


def _watched(
    broker: BrokerPart,
    request: BrokerRequest,
    key: PartitionKey,
    call: Callable[[Callable[[Any], None]], None],
    answer: Callable[[Any], None],
) -> None:
    """Makes a call, and notes if it changes the state and is answered with an error all the same.

    Joins and syncs that were taken may be overtaken while they wait for the others: that is no refusal.
    """
    shard = _shard(broker, key)
    before = None if shard is None else shard.state
    is_deciding = True
    has_changed = False
    early: list[Any] = []

    def done(response: Any) -> None:
        if is_deciding:
            early.append(response)
        elif has_changed and key.topic == TRANSACTIONS:
            _judge(broker, request, response)
        answer(response)

    call(done)
    is_deciding = False
    has_changed = shard is not None and shard.state is not before
    if has_changed:
        for response in early:
            _judge(broker, request, response)


def _judge(broker: BrokerPart, request: BrokerRequest, response: Any) -> None:
    """Looks at the answer to an operation that changed the state."""
    api, code = ApiKey(request.frame.api_key), refusal_code(response)
    if code not in (ErrorCode.NONE, *_UNKNOWN_OUTCOME) and (api, code) not in _COME_AGAIN:
        broker.outside.history.changed_refusals.append(ChangedRefusal(api.name, ErrorCode(code).name))


def _shard(broker: BrokerPart, key: PartitionKey) -> Shard[Any] | None:
    try:
        return broker.shards[key.topic].get(key.partition)
    except ApiError:
        return None


def refusal_code(response: Any) -> int:
    """The error that a whole response is; 0 if any part of it went well."""
    codes = list(_codes(response))
    return next(iter(codes), 0) if all(codes) else 0


def _codes(response: Any) -> list[int]:
    if getattr(response, "error_code", 0):
        return [response.error_code]
    if hasattr(response, "topics"):
        return [partition.error_code for topic in response.topics for partition in topic.partitions]
    if hasattr(response, "members") and response.members and hasattr(response.members[0], "error_code"):
        return [member.error_code for member in response.members]
    if hasattr(response, "results_by_transaction"):
        results = [found.topic_results for found in response.results_by_transaction]
        results.append(response.results_by_topic_v3_and_below)
        return [
            partition.partition_error_code
            for topics in results
            for topic in topics
            for partition in topic.results_by_partition
        ]
    return [0]


_HANDLERS: Final[Mapping[ApiKey, Callable[[BrokerPart, BrokerRequest], None]]] = {
    ApiKey.JOIN_GROUP: partial(_group, GroupCoordinator.join_group),
    ApiKey.SYNC_GROUP: partial(_group, GroupCoordinator.sync_group),
    ApiKey.HEARTBEAT: partial(_group, GroupCoordinator.heartbeat),
    ApiKey.LEAVE_GROUP: partial(_group, GroupCoordinator.leave_group),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: partial(_group, GroupCoordinator.consumer_group_heartbeat),
    ApiKey.OFFSET_COMMIT: _offset_commit,
    ApiKey.OFFSET_FETCH: partial(_read, GroupCoordinator.offset_fetch),
    ApiKey.OFFSET_DELETE: partial(_group, GroupCoordinator.offset_delete),
    ApiKey.LIST_GROUPS: _list_groups,
    ApiKey.DESCRIBE_GROUPS: partial(_read, GroupCoordinator.describe_groups),
    ApiKey.CONSUMER_GROUP_DESCRIBE: partial(_read, GroupCoordinator.consumer_group_describe),
    ApiKey.DELETE_GROUPS: partial(_read, GroupCoordinator.delete_groups),
    ApiKey.LIST_TRANSACTIONS: _list_transactions,
    ApiKey.DESCRIBE_TRANSACTIONS: _describe_transactions,
    ApiKey.INIT_PRODUCER_ID: partial(_transaction, TxnCoordinator.init_producer_id),
    ApiKey.ADD_PARTITIONS_TO_TXN: _add_partitions,
    ApiKey.ADD_OFFSETS_TO_TXN: partial(_transaction, TxnCoordinator.add_offsets_to_txn),
    ApiKey.END_TXN: partial(_transaction, TxnCoordinator.end_txn),
    ApiKey.TXN_OFFSET_COMMIT: _txn_offset_commit,
    ApiKey.PRODUCE: _produce,
    ApiKey.WRITE_TXN_MARKERS: _write_markers,
}
