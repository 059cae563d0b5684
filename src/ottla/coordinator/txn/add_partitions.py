"""AddPartitionsToTxn as a set of transactions: what is asked for each, and the answer put together.

Up to v3 a producer sends one transaction, from v4 brokers send many. Each is answered on its own, and the response
goes out when the last one has its answer.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.coordinator.ports import PartitionKey
from ottla.coordinator.txn.init_producer import ProducerIdAndEpoch
from ottla.coordinator.txn.transaction_metadata import TRANSACTIONS_V2
from ottla.coordinator.txn.transactions import AddClaim
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)

CLIENT_VERSION_MAX: Final = 3
"""The last version that producers send."""


class AddTask(NamedTuple):
    """One transaction of a request."""

    claim: AddClaim
    is_verify_only: bool
    topics: Sequence[AddPartitionsToTxnTopic]
    """In the request's order; a topic may occur twice, or without partitions."""


def tasks_of(request: AddPartitionsToTxnRequest, version: int) -> list[AddTask]:
    """The transactions that a request names; one that is named twice counts once, the last time."""
    if version <= CLIENT_VERSION_MAX:
        producer = ProducerIdAndEpoch(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = request.v3_and_below_topics
        claim = AddClaim(request.v3_and_below_transactional_id, producer, _partitions(topics))
        return [AddTask(claim, is_verify_only=False, topics=topics)]
    tasks: dict[str, AddTask] = {}
    for entry in request.transactions:
        producer = ProducerIdAndEpoch(entry.producer_id, entry.producer_epoch)
        claim = AddClaim(entry.transactional_id, producer, _partitions(entry.topics), TRANSACTIONS_V2)
        tasks[entry.transactional_id] = AddTask(claim, entry.verify_only, entry.topics)
    return list(tasks.values())


class AddAnswer:
    """Collects the answers for each transaction of a request, and answers it with the last one."""

    def __init__(self, version: int, ids: Iterable[str], done: Callable[[AddPartitionsToTxnResponse], None]) -> None:
        self._version: Final = version
        self._done: Final = done
        self._results: dict[str, list[AddPartitionsToTxnTopicResult] | None] = dict.fromkeys(ids)
        self._missing = len(self._results)

    def add(self, transactional_id: str, codes: Mapping[PartitionKey, int]) -> None:
        """The code of each partition of one transaction."""
        self._take(transactional_id, _by_topic(codes))

    def add_all(self, task: AddTask, code: int) -> None:
        """The code of one transaction as a whole: every partition has it, as often as it was named."""
        self._take(task.claim.transactional_id, [_with_code(topic, code) for topic in task.topics])

    def _take(self, transactional_id: str, results: list[AddPartitionsToTxnTopicResult]) -> None:
        self._results[transactional_id] = results
        self._missing -= 1
        if self._missing == 0:
            self._done(self._response())

    def _response(self) -> AddPartitionsToTxnResponse:
        if self._version <= CLIENT_VERSION_MAX:
            only = next(iter(self._results.values()), None)
            return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=only or [])
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(transactional_id=transactional_id, topic_results=results or [])
                for transactional_id, results in self._results.items()
            ]
        )


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> frozenset[PartitionKey]:
    return frozenset(PartitionKey(topic.name, index) for topic in topics for index in topic.partitions)


def _with_code(topic: AddPartitionsToTxnTopic, code: int) -> AddPartitionsToTxnTopicResult:
    results = [
        AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
        for index in topic.partitions
    ]
    return AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=results)


def _by_topic(codes: Mapping[PartitionKey, int]) -> list[AddPartitionsToTxnTopicResult]:
    topics: defaultdict[str, list[AddPartitionsToTxnPartitionResult]] = defaultdict(list)
    for (topic, partition), code in sorted(codes.items()):
        result = AddPartitionsToTxnPartitionResult(partition_index=partition, partition_error_code=code)
        topics[topic].append(result)
    return [AddPartitionsToTxnTopicResult(name=name, results_by_partition=found) for name, found in topics.items()]
