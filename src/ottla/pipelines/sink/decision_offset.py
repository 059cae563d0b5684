"""Where an exactly-once query keeps what was decided and written: offsets of groups on the topic `__ottla_pipelines`.

The topic holds no records; it gives the offsets a place. An offset is a micro-batch's id.

    group <prefix>-sink-<query id>                 batch 41 is decided: its transactions are to be committed, whoever
                                                   has to do it (they are listed in the offsets' metadata, those of
                                                   128 tasks with each partition of the topic; one request, one record)
    group <prefix>-sink-<query id>-<partition>     batch 41 of this partition is committed: part of its transaction

Any tool that shows groups shows them. Brokers forget the offsets of idle groups after `offsets.retention.minutes`
(7 days): a query may be down for longer, unless it died between its decision and Spark's own note of the batch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.cluster.cluster_client import CONTROLLER, ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.retrying_client import Coordinated, RetryingClient
from ottla.client.producer.sequence import ProducerIdentity
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.prepared_transaction import (
    PreparedTransactions,
    SinkQuery,
    transactions_from_text,
    transactions_to_text,
)
from ottla.protocol.errors import ErrorCode, error_for
from ottla.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)

CONTROL_TOPIC: Final = "__ottla_pipelines"
_PARTITIONS: Final = 32
_TASKS_PER_PARTITION: Final = 128
"""An entry has at most 31 characters, metadata at most 4096 (`offset.metadata.max.bytes`)."""
TASKS_MAX: Final = _PARTITIONS * _TASKS_PER_PARTITION
_NAMES_VERSION_MAX: Final = 9
"""From version 10 on topics go by id, which a client has to know first."""


_MAY_BE_THERE: Final = frozenset(
    {
        ErrorCode.NONE,
        ErrorCode.TOPIC_ALREADY_EXISTS,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    }
)
"""Refusals to create the topic, after which one that an administrator has made is used."""


@frozen
class Decision:
    """The last micro-batch that was decided (-1: none), and its transactions as far as they were asked for."""

    batch_id: int
    transactions: PreparedTransactions = field(default_factory=dict)


class DecisionOffsets:
    """The notes of one query; lives in the client's event loop."""

    def __init__(self, cluster: ClusterClient, client: RetryingClient, query: SinkQuery) -> None:
        self._cluster: Final = cluster
        self._client: Final = client
        self._query: Final = query

    async def decision(self, partition_ids: Iterable[int] | None = None) -> Decision:
        """The last decision, with the transactions of these of Spark's partitions at least; None for all."""
        chunks = set(range(_PARTITIONS)) if partition_ids is None else {_chunk(number) for number in partition_ids}
        found = await self._offsets(self._query.decision_group, chunks | {0})
        batch_id = found[0][0]
        transactions: PreparedTransactions = {}
        for offset, metadata in found.values():
            # A chunk that a smaller batch left alone still tells of an older one.
            if offset == batch_id:
                transactions.update(transactions_from_text(metadata))
        return Decision(batch_id, transactions)

    async def decide(self, batch_id: int, transactions: Mapping[int, ProducerIdentity]) -> None:
        """Makes the decision to commit durable: all of it, or nothing."""
        chunks: dict[int, PreparedTransactions] = {0: {}}
        for number, identity in transactions.items():
            chunks.setdefault(_chunk(number), {})[number] = identity
        partitions = [
            OffsetCommitRequestPartition(
                partition_index=chunk, committed_offset=batch_id, committed_metadata=transactions_to_text(found)
            )
            for chunk, found in chunks.items()
        ]
        request = OffsetCommitRequest(
            group_id=self._query.decision_group,
            topics=[OffsetCommitRequestTopic(name=CONTROL_TOPIC, partitions=partitions)],
        )
        whose = Coordinated(CoordinatorKind.GROUP, self._query.decision_group)
        await self._client.ask_coordinator(whose, request, OffsetCommitResponse, _NAMES_VERSION_MAX)

    async def written(self, partition_id: int) -> int:
        """The last micro-batch of a partition that is committed, -1 for none.

        Only true for who has taken the partition's transactional id over, or knows its transaction to have ended. Does
        not wait for transactions of the group that are open: where a broker died while it ended one (seen with Apache
        Kafka 4.3) it may have lost the marker, and would be waited for until the next one ends.
        """
        found = await self._offsets(self._query.written_group(partition_id), {0})
        return found[0][0]

    async def _offsets(self, group: str, partitions: set[int]) -> dict[int, tuple[int, str]]:
        topics = [OffsetFetchRequestTopics(name=CONTROL_TOPIC, partition_indexes=sorted(partitions))]
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=topics)])
        whose = Coordinated(CoordinatorKind.GROUP, group)
        response = await self._client.ask_coordinator(whose, request, OffsetFetchResponse, _NAMES_VERSION_MAX)
        found = dict.fromkeys(partitions, (-1, ""))
        for topic in response.groups[0].topics:
            found.update(
                {part.partition_index: (part.committed_offset, part.metadata or "") for part in topic.partitions}
            )
        return found

    async def prepare(self) -> None:
        """Makes the topic if it is not there."""
        if CONTROL_TOPIC in self._cluster.view.topics:
            return
        topic = CreatableTopic(
            name=CONTROL_TOPIC,
            num_partitions=_PARTITIONS,
            replication_factor=-1,
            configs=[CreatableTopicConfig(name="cleanup.policy", value="compact")],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=self._cluster.request_timeout_ms)

        async def attempt() -> None:
            response = await self._cluster.request(CONTROLLER, request)
            assert isinstance(response, CreateTopicsResponse)
            code = response.topics[0].error_code
            if code not in _MAY_BE_THERE:
                raise error_for(code, response.topics[0].error_message)

        await self._client.retry(attempt)
        found = await self._cluster.topic(CONTROL_TOPIC, timeout_ms=self._cluster.request_timeout_ms)
        if len(found.partitions) < _PARTITIONS:
            raise SinkError(f"the topic {CONTROL_TOPIC} has {len(found.partitions)} partitions and needs {_PARTITIONS}")


def _chunk(partition_id: int) -> int:
    if partition_id >= TASKS_MAX:
        raise SinkError(f"exactlyOnce writes with at most {TASKS_MAX} tasks: coalesce({TASKS_MAX}) before writing")
    return partition_id // _TASKS_PER_PARTITION
