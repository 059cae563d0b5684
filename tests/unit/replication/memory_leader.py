"""Brokers that fetch from each other without a network: the leader's replica manager answers on the next turn."""

from collections.abc import Callable, Mapping, Sequence

from ottla.protocol.errors import ApiError, NetworkError
from ottla.replication.follower.leader_endpoint import (
    FetchedByPartition,
    OffsetRequest,
    ReplicaFetch,
    ReplicaFetched,
    TopicIdPartition,
)
from ottla.replication.request.fetch import FetchParams, FetchPartition, FetchResult
from ottla.replication.request.offset_query import OffsetQuery
from tests.unit.replication.broker_under_test import BrokerUnderTest
from tests.unit.replication.manual_loop import ManualLoop


class Network:
    """Which brokers there are, and which of them cannot be reached."""

    def __init__(self, loop: ManualLoop) -> None:
        self.loop = loop
        self.brokers: dict[int, BrokerUnderTest] = {}
        self.cut: set[int] = set()
        self.wait_max_ms = 100
        self.fetches = 0

    def endpoint_of(self, own_id: int) -> Callable[[int, int], "MemoryLeader"]:
        """How a broker reaches others."""
        return lambda leader_id, number: MemoryLeader(self, own_id, leader_id)


class MemoryLeader:
    """See `LeaderEndpoint`."""

    def __init__(self, network: Network, own_id: int, leader_id: int) -> None:
        self._network = network
        self._own_id = own_id
        self._leader_id = leader_id
        self._is_closed = False

    def fetch(self, wanted: Sequence[ReplicaFetch], done: Callable[[FetchedByPartition | ApiError], None]) -> None:
        self._network.fetches += 1
        self._network.loop.call_soon(lambda: self._fetch(wanted, done))

    def _fetch(self, wanted: Sequence[ReplicaFetch], done: Callable[[FetchedByPartition | ApiError], None]) -> None:
        leader = self._leader()
        if leader is None:
            self._answer(done, NetworkError())
            return
        cluster = leader.replicas._view.cluster
        registration = cluster.brokers.get(self._own_id)
        params = FetchParams(
            max_wait_ms=self._network.wait_max_ms,
            min_bytes=1,
            max_bytes=1 << 20,
            replica_id=self._own_id,
            replica_epoch=-1 if registration is None else registration.epoch,
        )
        partitions = [
            FetchPartition(
                want.topic,
                want.partition,
                want.fetch_offset,
                1 << 20,
                want.current_leader_epoch,
                want.last_fetched_epoch,
                want.log_start_offset,
                want.topic_id,
            )
            for want in wanted
        ]
        leader.replicas.fetch(params, partitions, lambda results: self._answer(done, by_partition(wanted, results)))

    def list_offset(self, request: OffsetRequest, done: Callable[[int | ApiError], None]) -> None:
        self._network.loop.call_soon(lambda: self._list_offset(request, done))

    def _list_offset(self, request: OffsetRequest, done: Callable[[int | ApiError], None]) -> None:
        leader = self._leader()
        query = OffsetQuery(request.topic, request.partition, request.timestamp, request.current_leader_epoch)
        try:
            if leader is None:
                raise NetworkError
            self._answer(done, leader.replicas.list_offset(query).offset)
        except ApiError as error:
            self._answer(done, error)

    def close(self) -> None:
        self._is_closed = True

    def _leader(self) -> BrokerUnderTest | None:
        cut = self._network.cut
        return None if self._leader_id in cut or self._own_id in cut else self._network.brokers.get(self._leader_id)

    def _answer(self, done: Callable[..., None], answer: object) -> None:
        def deliver() -> None:
            if not self._is_closed:
                done(NetworkError() if self._leader() is None else answer)

        self._network.loop.call_soon(deliver)


def by_partition(
    wanted: Sequence[ReplicaFetch], results: Sequence[FetchResult]
) -> Mapping[TopicIdPartition, ReplicaFetched]:
    """A leader's results as a follower gets them."""
    return {
        TopicIdPartition(want.topic_id, want.partition): ReplicaFetched(
            result.error_code,
            b"" if result.records is None else result.records.read(),
            result.high_watermark,
            result.log_start_offset,
            result.diverging_epoch,
        )
        for want, result in zip(wanted, results, strict=True)
    }
