"""A transactional producer of either version: a state machine of its steps and their answers (KIP-98, KIP-890).

A step that succeeds answers `Progress.DONE`, one after which the transaction has to be aborted `FAILED`, and one after
which this producer must begin anew `FENCED`.
"""

import enum
from collections.abc import Callable, Sequence
from typing import Final

from ottla.coordinator.ports import PartitionKey
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData
from ottla.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.records.writer import BatchOptions, write_batch
from ottla.testing.simulation.clock import EPOCH_MS
from ottla.testing.simulation.coordinator.broker_api import refusal_code
from ottla.testing.simulation.coordinator.workload.member import (
    COORDINATOR_ELSEWHERE,
    RETRY_MS,
    ClientOutside,
    Identity,
)
from ottla.testing.simulation.coordinator.workload.task import Ask, Sleep, Steps

_TIMEOUTS_MS: Final = (2500, 6000)
"""Shorter than a client may stand still, and longer: it may find its transaction aborted, or still open."""
_TRIES: Final = 12
_END_TRIES: Final = 60
_NO_ID: Final = -1
_AGAIN: Final = frozenset(
    {
        *COORDINATOR_ELSEWHERE,
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
_FENCED: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)
"""The transaction is in other hands: nothing more is to be said in this one's name."""


class Progress(enum.Enum):
    """The result of a step."""

    DONE = enum.auto()
    FAILED = enum.auto()
    """The transaction must be aborted."""
    FENCED = enum.auto()
    """The producer must begin anew."""


class TransactionalProducer:
    """Has one transaction at a time."""

    def __init__(self, transactional_id: str, version: int, outside: ClientOutside) -> None:
        """`version` is that of the transactions: 1, or 2 with implicit adds and an epoch for each."""
        self.transactional_id: Final = transactional_id
        self.is_v2: Final = version == 2
        self._outside: Final = outside
        self._timeout_ms: Final = outside.random.choice(_TIMEOUTS_MS)
        self._id = self._epoch = _NO_ID
        self._sequences: dict[PartitionKey, int] = {}
        self._added: set[PartitionKey] = set()
        self._is_started = False
        self._is_uncertain = False
        """Whether a batch may or may not be in the log, so that its sequence numbers are."""

    @property
    def is_ready(self) -> bool:
        """Whether it has an epoch and knows its sequence numbers, so that a transaction can begin."""
        return self._epoch != _NO_ID and not self._is_uncertain

    def init(self) -> Steps[Progress]:
        """Gets an epoch: as a new producer, or as the present one after an uncertain batch (KIP-360)."""
        expected = (self._id, self._epoch) if self._is_uncertain else (_NO_ID, _NO_ID)
        request = InitProducerIdRequest(
            transactional_id=self.transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=expected[0],
            producer_epoch=expected[1],
        )
        code, response = yield from self._ask(request, 5, self._coordinator, _TRIES)
        if code == ErrorCode.NONE and isinstance(response, InitProducerIdResponse):
            self._now(response.producer_id, response.producer_epoch)
            return Progress.DONE
        self._forget()
        return Progress.FENCED

    def begin(self) -> None:
        """A transaction begins, without anybody being told."""
        self._added.clear()
        self._is_started = False

    def send(self, key: PartitionKey, values: Sequence[bytes]) -> Steps[Progress]:
        """Writes a batch, and waits until all replicas have it."""
        if not self.is_v2 and key not in self._added:
            progress = yield from self._add(key)
            if progress is not Progress.DONE:
                return progress
        self._is_started = True
        sequence = self._sequences.get(key, 0)
        options = BatchOptions(
            producer_id=self._id, producer_epoch=self._epoch, base_sequence=sequence, is_transactional=True
        )
        records = write_batch([(number, EPOCH_MS, None, value, ()) for number, value in enumerate(values)], options)
        data = TopicProduceData(
            name=key.topic, partition_data=[PartitionProduceData(index=key.partition, records=records)]
        )
        request = ProduceRequest(transactional_id=self.transactional_id, acks=-1, timeout_ms=500, topic_data=[data])
        code, _ = yield from self._ask(request, 12 if self.is_v2 else 11, lambda: self._leader(key), _TRIES)
        if code != ErrorCode.NONE:
            self._is_uncertain = True
            return self._failed(code)
        self._sequences[key] = sequence + len(values)
        return Progress.DONE

    def commit_offsets(self, group_id: str, who: Identity, offsets: dict[PartitionKey, int]) -> Steps[Progress]:
        """Makes a group's positions part of the transaction."""
        if not self.is_v2:
            request = AddOffsetsToTxnRequest(
                transactional_id=self.transactional_id,
                producer_id=self._id,
                producer_epoch=self._epoch,
                group_id=group_id,
            )
            code, _ = yield from self._ask(request, 3, self._coordinator, _TRIES)
            if code != ErrorCode.NONE:
                return self._failed(code)
        self._is_started = True
        commit = TxnOffsetCommitRequest(
            transactional_id=self.transactional_id,
            group_id=group_id,
            producer_id=self._id,
            producer_epoch=self._epoch,
            generation_id=who.generation,
            member_id=who.member_id,
            group_instance_id=who.instance_id,
            topics=_topics(offsets),
        )
        version = 5 if self.is_v2 else 4
        code, _ = yield from self._ask(commit, version, lambda: self._outside.group_coordinator(group_id), _TRIES)
        return Progress.DONE if code == ErrorCode.NONE else self._failed(code)

    def end(self, *, committed: bool) -> Steps[Progress]:
        """Commits or aborts. If no answer comes the outcome is unknown, and the producer begins anew."""
        if not self._is_started:
            return Progress.DONE
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self._id,
            producer_epoch=self._epoch,
            committed=committed,
        )
        code, response = yield from self._ask(request, 5 if self.is_v2 else 4, self._coordinator, _END_TRIES)
        if code != ErrorCode.NONE:
            self._forget()
            return Progress.FENCED
        if self.is_v2 and isinstance(response, EndTxnResponse):
            self._now(response.producer_id, response.producer_epoch)
        return Progress.DONE

    def _add(self, key: PartitionKey) -> Steps[Progress]:
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self._id,
            v3_and_below_producer_epoch=self._epoch,
            v3_and_below_topics=[AddPartitionsToTxnTopic(name=key.topic, partitions=[key.partition])],
        )
        self._is_started = True
        code, _ = yield from self._ask(request, 3, self._coordinator, _TRIES)
        if code != ErrorCode.NONE:
            return self._failed(code)
        self._added.add(key)
        return Progress.DONE

    def _ask(self, request: Request, version: int, broker: Callable[[], int], tries: int) -> Steps[tuple[int, object]]:
        """Asks until there is an answer that is worth something."""
        code: int = ErrorCode.NETWORK_EXCEPTION
        for _ in range(tries):
            broker_id = broker()
            response = (yield Ask(broker_id, request, version)) if broker_id >= 0 else None
            code = ErrorCode.NETWORK_EXCEPTION if response is None else _code(response)
            if code not in _AGAIN:
                return code, response
            yield Sleep(RETRY_MS)
        return code, None

    def _failed(self, code: int) -> Progress:
        if code not in _FENCED:
            return Progress.FAILED
        self._forget()
        return Progress.FENCED

    def _now(self, producer_id: int, producer_epoch: int) -> None:
        self._id, self._epoch = producer_id, producer_epoch
        self._sequences.clear()
        self._is_uncertain = False

    def _forget(self) -> None:
        self._now(_NO_ID, _NO_ID)

    def _coordinator(self) -> int:
        return self._outside.transaction_coordinator(self.transactional_id)

    def _leader(self, key: PartitionKey) -> int:
        return self._outside.image().leader(key).broker_id


def _topics(offsets: dict[PartitionKey, int]) -> list[TxnOffsetCommitRequestTopic]:
    topics: dict[str, TxnOffsetCommitRequestTopic] = {}
    for key, offset in offsets.items():
        topic = topics.setdefault(key.topic, TxnOffsetCommitRequestTopic(name=key.topic))
        topic.partitions.append(
            TxnOffsetCommitRequestPartition(
                partition_index=key.partition, committed_offset=offset, committed_metadata=""
            )
        )
    return list(topics.values())


def _code(response: object) -> int:
    if isinstance(response, ProduceResponse):
        return response.responses[0].partition_responses[0].error_code
    return refusal_code(response)
