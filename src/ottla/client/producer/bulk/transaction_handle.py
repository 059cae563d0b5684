"""A transaction as far as its coordinator is concerned: begun, filled and ended, maybe by different processes.

Works in both of Kafka's versions (KIP-98, KIP-890): in version 1 partitions are added before they are written to, in
version 2 the write adds them, and every end gives the next epoch. Lives in the client's event loop.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.coordinator_lookup import CoordinatorKind
from ottla.client.cluster.retrying_client import Coordinated, RetryingClient
from ottla.client.errors import KafkaTimeoutError
from ottla.client.producer.sequence import NO_IDENTITY, ProducerIdentity
from ottla.client.producer.transaction.coordinator import TransactionCoordinator
from ottla.client.producer.transaction.offset import OffsetSender
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ApiError, ErrorCode
from ottla.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from ottla.protocol.messages.describe_transactions import DescribeTransactionsRequest, DescribeTransactionsResponse
from ottla.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_R = TypeVar("_R", bound=Response)

_LAST_VERSION: Final = {ApiKey.INIT_PRODUCER_ID: 5}
"""Version 6 is for two-phase commit (KIP-939) and still unstable."""
_LAST_V1_VERSION: Final = {**_LAST_VERSION, ApiKey.ADD_PARTITIONS_TO_TXN: 3, ApiKey.END_TXN: 4}
_GONE: Final = frozenset(
    {
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_PRODUCER_EPOCH,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TXN_STATE,
    }
)
"""The transaction was ended by its time-out, or by a producer that took its id over."""
_OPEN: Final = "Ongoing"


class TransactionHandle:
    """The transaction of one transactional id, begun here (`begin`) or by another process (`identity`)."""

    def __init__(
        self,
        cluster: ClusterClient,
        client: RetryingClient,
        transactional_id: str,
        identity: ProducerIdentity = NO_IDENTITY,
    ) -> None:
        self.transactional_id: Final = transactional_id
        self.identity = identity
        self._client: Final = client
        self._coordinator: Final = TransactionCoordinator(cluster, transactional_id)
        self._whose: Final = Coordinated(CoordinatorKind.TRANSACTION, transactional_id)
        self._enlisted: Final[set[TopicPartition]] = set()
        self._is_v2: bool | None = None
        self._following = NO_IDENTITY

    async def begin(self, timeout_ms: int) -> None:
        """Takes the id over: aborts what an earlier producer left open, which can't write or commit any more."""
        request = InitProducerIdRequest(transactional_id=self.transactional_id, transaction_timeout_ms=timeout_ms)
        response = await self._ask(request, InitProducerIdResponse)
        self.identity = ProducerIdentity(response.producer_id, response.producer_epoch)

    async def needs_enlisting(self) -> bool:
        """Whether partitions have to be made part of it before they are written to."""
        return not await self._serves_v2()

    async def enlist(self, places: Sequence[TopicPartition]) -> None:
        """Makes partitions part of it."""
        topics: dict[str, list[int]] = {}
        for topic, partition in places:
            if TopicPartition(topic, partition) not in self._enlisted:
                topics.setdefault(topic, []).append(partition)
        if not topics:
            return
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.identity.producer_id,
            v3_and_below_producer_epoch=self.identity.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=partitions) for name, partitions in topics.items()
            ],
        )
        await self._ask(request, AddPartitionsToTxnResponse)
        self._enlisted.update(places)

    async def send_offsets(
        self, group: str, offsets: Mapping[TopicPartition, OffsetAndMetadata], timeout_ms: int
    ) -> None:
        """Makes offsets of a group part of it."""
        sender = OffsetSender(self._coordinator, self.identity, is_v2=await self._serves_v2())
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                await sender.send(offsets, group)
        except TimeoutError:
            raise KafkaTimeoutError(f"no answer of the coordinator of {group!r} within {timeout_ms} ms") from None

    async def is_open(self) -> bool:
        """Whether it could be committed now: no other producer has taken its id over, and its time is not up."""
        request = DescribeTransactionsRequest(transactional_ids=[self.transactional_id])
        try:
            response = await self._ask(request, DescribeTransactionsResponse)
        except ApiError as error:
            if error.code is ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return False
            raise
        [found] = response.transaction_states
        return found.transaction_state == _OPEN and self.identity == (found.producer_id, found.producer_epoch)

    async def commit(self) -> bool:
        """Commits it; may be repeated. False if it is gone, be it aborted or committed and followed by another one."""
        return await self._end(is_commit=True)

    async def abort(self) -> bool:
        """Aborts it; False if it is gone."""
        return await self._end(is_commit=False)

    def go_on(self) -> bool:
        """Turns to the transaction that follows one that has ended; false: it has to be begun (version 1)."""
        self.identity, self._following = self._following, NO_IDENTITY
        self._enlisted.clear()
        return self.identity.is_valid

    async def _end(self, *, is_commit: bool) -> bool:
        request = EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.identity.producer_id,
            producer_epoch=self.identity.epoch,
            committed=is_commit,
        )
        try:
            response = await self._ask(request, EndTxnResponse)
        except ApiError as error:
            if error.code in _GONE:
                return False
            raise
        self._following = ProducerIdentity(response.producer_id, response.producer_epoch)
        return True

    async def _ask(self, request: Request, kind: type[_R]) -> _R:
        versions = _LAST_VERSION if await self._serves_v2() else _LAST_V1_VERSION
        return await self._client.ask_coordinator(self._whose, request, kind, versions.get(request.api))

    async def _serves_v2(self) -> bool:
        if self._is_v2 is None:
            connection = await self._client.coordinator(self._whose)
            self._is_v2 = self._coordinator.serves_transactions_v2(connection)
        return self._is_v2
