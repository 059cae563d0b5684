"""Produce (key 0), versions 3–13: appends one batch to each of several partitions.

Names topics by name, from v13 by id. With acks=0 nothing is answered, and an error closes the connection, because the
client could not learn of it otherwise. While acks=all waits for replicas the connection's next request is handled;
answers keep their order. Refusals before the log (unknown topic, not exactly one v2 batch, bad acks) have log start
offset -1 and no message; what the validator refuses names the records (KIP-467). From v10 a partition that moved comes
with its new leader (KIP-951). Topics are never created here.

Transactional batches need a transactional id (53 for the whole request), and a partition that has no transaction of
the producer open is first to be cleared with the transaction coordinator (KIP-890). While there is none they get what
Apache Kafka answers while its coordinator is away: NOT_ENOUGH_REPLICAS, which every client tries again.

Bytes that begin like no batch of any kind are CORRUPT_MESSAGE for the whole request; other bad batches only spoil their
own partition. Deviations: null records are INVALID_RECORD, where Apache Kafka never answers.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from ottla.base.accelerated import compiled_module
from ottla.base.ids import Uuid
from ottla.broker.coordinator_host.transaction_check import (
    Clearances,
    TransactionalBatch,
    clear_transactional,
    produce_support,
)
from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.metadata.current_leader import CurrentLeaders
from ottla.broker.request.produce_answer import ProduceAnswers
from ottla.broker.request.request_context import RequestContext
from ottla.broker.request.route import Lane, Route
from ottla.broker.security.rights import may_topic, may_transact
from ottla.protocol.acl import AclOperation
from ottla.protocol.errors import (
    ApiError,
    CorruptMessageError,
    ErrorCode,
    InvalidRecordError,
    TransactionalIdAuthorizationFailedError,
)
from ottla.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ottla.protocol.records.batch import FLAGS_AT, LOG_OVERHEAD, MAGIC, MAGIC_AT, TRANSACTIONAL
from ottla.protocol.records.validation import single_batch
from ottla.replication.request.produce import AppendEntry, AppendResult
from ottla.storage.topic_partition import TopicPartition

_LEGACY_MESSAGE_BYTES_MIN: Final = 14
_TOPIC_IDS_SINCE: Final = 13
_LEADERS_SINCE: Final = 10
_ACKS: Final = frozenset({-1, 0, 1})
_FORBIDDEN: Final = int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
_NOT_COUNTED: Final = frozenset({int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), _FORBIDDEN})
_ADMIN_CLIENT_ID: Final = "__admin_client"
"""The one client that may write to internal topics."""
_EXPECTED: Final = frozenset(
    int(code)
    for code in (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.RECORD_LIST_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)
"""Errors that Kafka does not count as failed requests: they are the client's, or have a metric of their own."""


def handle(parts: BrokerParts, context: RequestContext, request: ProduceRequest) -> ProduceResponse | None:
    """Appends what can be appended; answers by itself, at once or when the replicas have it."""
    work = _PendingProduce(parts, context, request.acks)
    by_id = context.route.version >= _TOPIC_IDS_SINCE
    for topic in request.topic_data:
        if not by_id:
            work.take(topic.name, topic.partition_data)
            continue
        name = parts.metadata.topic_name(topic.topic_id)
        if name is None:
            work.leave_out(topic)
        else:
            work.topic_ids[name] = topic.topic_id
            work.take(name, topic.partition_data)
    if work.is_transactional and not _may_transact(context, request.transactional_id):
        raise TransactionalIdAuthorizationFailedError
    if work.transactional:
        assert request.transactional_id is not None
        work.clear_transactional(request.transactional_id, request.timeout_ms)
    else:
        work.append(request.timeout_ms)
    return None


def _may_transact(context: RequestContext, transactional_id: str | None) -> bool:
    return transactional_id is not None and may_transact(context.rights, AclOperation.WRITE, transactional_id)


def lane(parts: BrokerParts, route: Route) -> Lane | None:
    """The compiled short way for one partition with one plain batch, which nearly every request is."""
    compiled = compiled_module("ottla.broker.request._produce_lane")
    return None if compiled is None else compiled.ProduceLane(parts, route, ProduceAnswers(route))


def finish_single(
    parts: BrokerParts, context: RequestContext, acks: int, topic_id: Uuid | None, results: Sequence[AppendResult]
) -> None:
    """Answers a request that went the short way to an outcome that has no short answer."""
    work = _PendingProduce(parts, context, acks)
    if topic_id is not None:
        work.topic_ids[results[0].topic] = topic_id
    work.appended(results)


def _is_transactional(records: object) -> bool:
    """Whether records that may be no good begin with a batch that says so; its size and CRC are not looked at."""
    if not isinstance(records, memoryview) or len(records) <= FLAGS_AT or records[MAGIC_AT] != MAGIC:
        return False
    return bool(records[FLAGS_AT] & TRANSACTIONAL)


class _PendingProduce:
    """A Produce request between its frame and its answer."""

    __slots__ = (
        "_acks",
        "_context",
        "_parts",
        "entries",
        "is_transactional",
        "refused",
        "topic_ids",
        "transactional",
        "unknown",
    )

    def __init__(self, parts: BrokerParts, context: RequestContext, acks: int) -> None:
        self._parts = parts
        self._context = context
        self._acks = acks
        self.entries: list[AppendEntry] = []
        self.refused: list[AppendResult] = []
        self.topic_ids: dict[str, Uuid] = {}
        """Of topics that were named by id."""
        self.unknown: dict[Uuid, list[int]] = {}
        """Ids that no topic has, each with the partitions that were asked for."""
        self.transactional: list[TransactionalBatch] = []
        self.is_transactional = False
        """Whether any batch is, also of those that were refused."""

    def leave_out(self, topic: TopicProduceData) -> None:
        """Notes an unknown topic."""
        for partition in topic.partition_data:
            _check_frame(partition.records)
        if topic.partition_data:
            indexes = self.unknown.setdefault(topic.topic_id, [])
            indexes += [partition.index for partition in topic.partition_data]
        self.is_transactional |= any(_is_transactional(partition.records) for partition in topic.partition_data)

    def take(self, topic: str, partitions: Sequence[PartitionProduceData]) -> None:
        """Takes in what is wanted of a topic; what is not exactly one batch is refused."""
        version = self._context.route.version
        may_write = may_topic(self._context.rights, AclOperation.WRITE, topic)
        for partition in partitions:
            records = partition.records
            if not may_write:
                _check_frame(records)
                self.is_transactional |= _is_transactional(records)
                self.refused.append(AppendResult(topic, partition.index, _FORBIDDEN))
                continue
            try:
                if not isinstance(records, memoryview):
                    raise InvalidRecordError("The records are null")
                batch = single_batch(records, version)
            except ApiError as error:
                _check_frame(records)
                self.is_transactional |= _is_transactional(records)
                self._refuse(topic, partition, error)
                continue
            if batch.is_transactional:
                self.is_transactional = True
                self.transactional.append(TransactionalBatch(TopicPartition(topic, partition.index), batch))
            # A few bytes may follow the batch, too few to be another.
            whole = records if batch.size == len(records) else batch.data
            self.entries.append(AppendEntry(topic, partition.index, whole))

    def _refuse(self, topic: str, partition: PartitionProduceData, error: ApiError) -> None:
        if self._parts.metadata.partition(topic, partition.index) is None:
            result = AppendResult(topic, partition.index, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        else:
            result = AppendResult(topic, partition.index, int(error.code))
        self.refused.append(result)

    def clear_transactional(self, transactional_id: str, timeout_ms: int) -> None:
        """Appends of the transactional batches those that the coordinator allows, when it has said so.

        Meanwhile the connection handles nothing else: a later batch must not get ahead of this one.
        """
        with_producer = [found for found in self.transactional if found.batch.producer_id >= 0]
        support = produce_support(self._context.version)
        self.transactional = []
        is_cleared = False

        def cleared(clearances: Clearances) -> None:
            nonlocal is_cleared
            is_cleared = True
            self._keep(clearances)
            self.append(timeout_ms)

        clear_transactional(self._parts, transactional_id, with_producer, support, cleared)
        if not is_cleared:
            # The frame is gone by the time of the answer.
            self.entries = [entry._replace(records=bytearray(entry.records)) for entry in self.entries]

    def _keep(self, clearances: Clearances) -> None:
        kept = []
        for entry in self.entries:
            clearance = clearances.get(TopicPartition(entry.topic, entry.partition))
            if clearance is None:
                kept.append(entry)
            elif not clearance.error_code:
                kept.append(entry._replace(options=clearance.options))
            else:
                _, code, message = clearance
                self.refused.append(AppendResult(entry.topic, entry.partition, code, error_message=message))
        self.entries = kept

    def append(self, timeout_ms: int) -> None:
        """Appends what is left, and answers at once or when the replicas have it."""
        if not self.entries:
            self.appended(())
            return
        entries = self.take_entries()
        # Until the checks are done the connection handles nothing else: a later batch must not get ahead of these.
        if not self._parts.checks.begin(entries, self._context.guarded(partial(self._append_checked, timeout_ms))):
            self._append_checked(timeout_ms, entries)

    def _append_checked(self, timeout_ms: int, entries: Sequence[AppendEntry]) -> None:
        context = self._context
        self._parts.replicas.append(
            entries,
            acks=self._acks,
            timeout_ms=timeout_ms,
            done=context.guarded(self.appended),
            internal_topics_allowed=context.client_id == _ADMIN_CLIENT_ID,
        )
        if not context.exchange.is_done:
            context.exchange.proceed()

    def take_entries(self) -> Sequence[AppendEntry]:
        """Hands the batches over to the append: a request that waits for replicas must not keep the frame."""
        entries, self.entries, self.transactional = self.entries, [], []
        return entries

    def appended(self, results: Sequence[AppendResult]) -> None:
        """Answers: every partition has its outcome."""
        self._count(results)
        if self.refused:
            results = _merged(results, self.refused)
        if self._acks not in _ACKS:
            results = [self._existing(result) for result in results]
        context = self._context
        if self._acks:
            context.answer(self._response(results))
        elif self.unknown or any(result.error_code for result in results):
            failed = {f"{result.topic}-{result.partition}": _name(result.error_code) for result in results}
            context.close(f"errors in a produce request with acks=0: {failed or 'UNKNOWN_TOPIC_ID'}")
        else:
            context.no_answer()

    def _existing(self, result: AppendResult) -> AppendResult:
        """Bad acks are reported for partitions that exist, which was not checked yet."""
        known = self._parts.metadata.partition(result.topic, result.partition) is not None
        if known or result.error_code == _FORBIDDEN:
            return result
        return AppendResult(result.topic, result.partition, int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))

    def _count(self, results: Sequence[AppendResult]) -> None:
        for result in results:
            code = result.error_code
            # Not for topics that don't exist, or may not be written: a request for them must not make metrics.
            if code not in _NOT_COUNTED:
                counts = self._parts.topic_metrics.of(result.topic)
                counts.produce_requests += 1
                if result.size_bytes:
                    counts.messages_in += result.last_offset - result.base_offset + 1
                    counts.bytes_in += result.size_bytes
                elif code == ErrorCode.CORRUPT_MESSAGE:
                    counts.invalid_crc += 1
                elif code and code not in _EXPECTED:
                    counts.failed_produce_requests += 1
                    if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
                        counts.invalid_sequence += 1

    def _response(self, results: Sequence[AppendResult]) -> ProduceResponse:
        topics: dict[str, TopicProduceResponse] = {}
        leaders: CurrentLeaders | None = None
        for result in results:
            partition = _partition_response(result)
            if result.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and self._context.version >= _LEADERS_SINCE:
                leaders = leaders or CurrentLeaders(self._parts, self._context)
                found = leaders.of(result.topic, result.partition)
                partition.current_leader = LeaderIdAndEpoch(**found._asdict())
            topic = topics.get(result.topic)
            if topic is None:
                topic_id = self.topic_ids.get(result.topic)
                topic = TopicProduceResponse(name=result.topic)
                if topic_id is not None:
                    topic.topic_id = topic_id
                topics[result.topic] = topic
            topic.partition_responses.append(partition)
        response = ProduceResponse(responses=list(topics.values()))
        for topic_id, indexes in self.unknown.items():
            response.responses.append(_unknown_topic(topic_id, indexes))
        if leaders is not None:
            response.node_endpoints = [NodeEndpoint(**endpoint._asdict()) for endpoint in leaders.endpoints]
        return response


def _partition_response(result: AppendResult) -> PartitionProduceResponse:
    response = PartitionProduceResponse(
        index=result.partition,
        error_code=result.error_code,
        base_offset=result.base_offset,
        log_append_time_ms=result.log_append_time_ms,
        log_start_offset=result.log_start_offset,
        error_message=result.error_message,
    )
    if result.record_errors:
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=error.batch_index, batch_index_error_message=error.message)
            for error in result.record_errors
        ]
    return response


def _unknown_topic(topic_id: Uuid, indexes: Sequence[int]) -> TopicProduceResponse:
    code = int(ErrorCode.UNKNOWN_TOPIC_ID)
    answers = [
        PartitionProduceResponse(index=index, error_code=code, base_offset=-1) for index in dict.fromkeys(indexes)
    ]
    return TopicProduceResponse(topic_id=topic_id, partition_responses=answers)


def _merged(results: Sequence[AppendResult], refused: Sequence[AppendResult]) -> Sequence[AppendResult]:
    """One result for each partition, also for one that was named twice."""
    return list({(result.topic, result.partition): result for result in (*results, *refused)}.values())


def _check_frame(records: object) -> None:
    """Bytes that begin like no batch of any kind spoil the whole request, in Kafka's words."""
    if not isinstance(records, memoryview) or len(records) < LOG_OVERHEAD:
        return
    size = int.from_bytes(records[8:12], "big", signed=True)
    if size < _LEGACY_MESSAGE_BYTES_MIN:
        raise CorruptMessageError(
            f"Record size {size} is less than the minimum record overhead ({_LEGACY_MESSAGE_BYTES_MIN})"
        )
    if len(records) > MAGIC_AT and records[MAGIC_AT] > MAGIC:
        magic = int.from_bytes(records[MAGIC_AT : MAGIC_AT + 1], "big", signed=True)
        raise CorruptMessageError(f"Invalid magic found in record: {magic}")


def _name(code: int) -> str:
    return ErrorCode(code).name
