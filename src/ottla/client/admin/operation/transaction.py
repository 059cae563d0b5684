"""Transactions: listed on all brokers, described, ended from outside (KIP-664)."""

import asyncio
from collections.abc import Iterable

from ottla.base.errors import OttlaError
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.outcome import outcome, settle
from ottla.client.admin.route import coordinators, fixed, leaders
from ottla.client.admin.topic_group import numbers_by_topic
from ottla.client.admin.value.transaction import (
    AbortTransactionSpec,
    FencedProducer,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.record import TopicPartition
from ottla.protocol.messages import describe_producers, describe_transactions
from ottla.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    TopicRequest,
)
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from ottla.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)


class TransactionOperations(AdminOperations):
    """Operations on transactions and producers."""

    async def list_transactions(
        self,
        *,
        states: Iterable[str] = (),
        producer_ids: Iterable[int] = (),
        longer_than_ms: int | None = None,
        id_pattern: str | None = None,
    ) -> list[TransactionListing]:
        """All transactional ids, by coordinator; each filter lets pass what it names, or everything."""
        request = ListTransactionsRequest(
            state_filters=list(states),
            producer_id_filters=list(producer_ids),
            duration_filter=-1 if longer_than_ms is None else longer_than_ms,
            transactional_id_pattern=id_pattern,
        )
        brokers = await self._broker_ids()
        responses = await asyncio.gather(
            *(self._channel.ask(broker, request, ListTransactionsResponse) for broker in brokers)
        )
        return [
            TransactionListing(found.transactional_id, found.producer_id, found.transaction_state, broker)
            for broker, response in zip(brokers, responses, strict=True)
            for found in response.transaction_states
        ]

    async def describe_transactions(
        self, transactional_ids: Iterable[str], *, errors: dict[str, OttlaError] | None = None
    ) -> dict[str, TransactionDescription]:
        """The present transactions of transactional ids."""

        async def ask(node: int, asked: list[str]) -> dict[str, TransactionDescription | OttlaError]:
            request = DescribeTransactionsRequest(transactional_ids=asked)
            response = await self._channel.ask_once(node, request, DescribeTransactionsResponse)
            return {
                found.transactional_id: outcome(_transaction(found, node), found.error_code)
                for found in response.transaction_states
            }

        route = coordinators(self._coordinators, CoordinatorKind.TRANSACTION)
        return settle(await self._channel.ask_each(transactional_ids, route, ask), errors)

    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker_id: int | None = None,
        errors: dict[TopicPartition, OttlaError] | None = None,
    ) -> dict[TopicPartition, list[ProducerState]]:
        """The producers that partitions remember, as their leaders or as one broker has them."""

        async def ask(node: int, asked: list[TopicPartition]) -> dict[TopicPartition, list[ProducerState] | OttlaError]:
            topics = [TopicRequest(name=topic, partition_indexes=numbers) for topic, numbers in _grouped(asked)]
            request = DescribeProducersRequest(topics=topics)
            response = await self._channel.ask_once(node, request, DescribeProducersResponse)
            return {
                TopicPartition(topic.name, part.partition_index): outcome(
                    list(map(_producer, part.active_producers)), part.error_code, part.error_message
                )
                for topic in response.topics
                for part in topic.partitions
            }

        route = leaders(self._channel) if broker_id is None else fixed(broker_id)
        return settle(await self._channel.ask_each(partitions, route, ask), errors)

    async def abort_transaction(self, spec: AbortTransactionSpec) -> None:
        """Writes the marker that ends a hanging transaction in one partition."""
        marker = WritableTxnMarker(
            producer_id=spec.producer_id,
            producer_epoch=spec.producer_epoch,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name=spec.partition.topic, partition_indexes=[spec.partition.partition])],
            coordinator_epoch=spec.coordinator_epoch,
        )

        async def ask(node: int, _partitions: list[TopicPartition]) -> dict[TopicPartition, OttlaError | None]:
            request = WriteTxnMarkersRequest(markers=[marker])
            response = await self._channel.ask_once(node, request, WriteTxnMarkersResponse)
            return {
                TopicPartition(topic.name, part.partition_index): outcome(None, part.error_code)
                for found in response.markers
                for topic in found.topics
                for part in topic.partitions
            }

        settle(await self._channel.ask_each([spec.partition], leaders(self._channel), ask), None)

    async def fence_producers(
        self, transactional_ids: Iterable[str], *, errors: dict[str, OttlaError] | None = None
    ) -> dict[str, FencedProducer]:
        """Raises the epochs of transactional ids: fences their producers and aborts their open transactions."""

        async def ask_one(node: int, transactional_id: str) -> FencedProducer | OttlaError:
            request = InitProducerIdRequest(
                transactional_id=transactional_id, transaction_timeout_ms=self._channel.request_timeout_ms
            )
            try:
                response = await self._channel.ask_once(node, request, InitProducerIdResponse)
            except OttlaError as error:
                return error
            return FencedProducer(response.producer_id, response.producer_epoch)

        async def ask(node: int, asked: list[str]) -> dict[str, FencedProducer | OttlaError]:
            found = await asyncio.gather(*(ask_one(node, transactional_id) for transactional_id in asked))
            return dict(zip(asked, found, strict=True))

        route = coordinators(self._coordinators, CoordinatorKind.TRANSACTION)
        return settle(await self._channel.ask_each(transactional_ids, route, ask), errors)

    async def force_terminate_transaction(self, transactional_id: str) -> None:
        """Aborts whatever a transactional id has open (KIP-939)."""
        await self.fence_producers([transactional_id])


def _grouped(partitions: list[TopicPartition]) -> Iterable[tuple[str, list[int]]]:
    return numbers_by_topic(partitions).items()


def _transaction(found: describe_transactions.TransactionState, coordinator_id: int) -> TransactionDescription:
    start = found.transaction_start_time_ms
    return TransactionDescription(
        coordinator_id=coordinator_id,
        state=found.transaction_state,
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        timeout_ms=found.transaction_timeout_ms,
        start_time_ms=None if start < 0 else start,
        partitions=frozenset(
            TopicPartition(topic.topic, number) for topic in found.topics for number in topic.partitions
        ),
    )


def _producer(found: describe_producers.ProducerState) -> ProducerState:
    start = found.current_txn_start_offset
    return ProducerState(
        producer_id=found.producer_id,
        producer_epoch=found.producer_epoch,
        last_sequence=found.last_sequence,
        last_timestamp=found.last_timestamp,
        coordinator_epoch=None if found.coordinator_epoch < 0 else found.coordinator_epoch,
        current_transaction_start_offset=None if start < 0 else start,
    )
