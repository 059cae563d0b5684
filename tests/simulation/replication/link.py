"""The way from a follower to its leader in the simulated world: slow, and not always there."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ottla.protocol.errors import ApiError, NetworkError
from ottla.replication.follower.leader_endpoint import FetchedByPartition, OffsetRequest, ReplicaFetch
from ottla.replication.request.fetch import FetchParams, FetchPartition
from ottla.replication.request.offset_query import OffsetQuery
from tests.unit.replication.memory_leader import by_partition

if TYPE_CHECKING:
    from tests.simulation.replication.world import Machine, World


class Link:
    """See `LeaderEndpoint`."""

    def __init__(self, world: "World", follower: "Machine", leader_id: int) -> None:
        self._world = world
        self._follower = follower
        self._leader_id = leader_id
        self._is_closed = False

    def fetch(self, wanted: Sequence[ReplicaFetch], done: Callable[[FetchedByPartition | ApiError], None]) -> None:
        answer = self._once(done)
        epoch = self._world.image.cluster.brokers[self._follower.id].epoch
        params = FetchParams(
            max_wait_ms=50, min_bytes=1, max_bytes=1000, replica_id=self._follower.id, replica_epoch=epoch
        )
        partitions = [
            FetchPartition(
                want.topic,
                want.partition,
                want.fetch_offset,
                500,
                want.current_leader_epoch,
                want.last_fetched_epoch,
                want.log_start_offset,
                want.topic_id,
            )
            for want in wanted
        ]

        def arrive() -> None:
            leader = self._reached()
            if leader is None:
                answer(NetworkError())
            else:
                leader.replicas.fetch(params, partitions, lambda results: answer(by_partition(wanted, results)))

        self._world.later(arrive)

    def list_offset(self, request: OffsetRequest, done: Callable[[int | ApiError], None]) -> None:
        answer = self._once(done)

        def arrive() -> None:
            leader = self._reached()
            query = OffsetQuery(request.topic, request.partition, request.timestamp, request.current_leader_epoch)
            try:
                answer(NetworkError() if leader is None else leader.replicas.list_offset(query).offset)
            except ApiError as error:
                answer(error)

        self._world.later(arrive)

    def close(self) -> None:
        self._is_closed = True

    def _reached(self) -> Any:
        is_cut = self._world.is_cut(self._follower.id, self._leader_id)
        return None if is_cut else self._world.machines[self._leader_id].broker

    def _once(self, done: Callable[[Any], None]) -> Callable[[Any], None]:
        """Answers on the follower's side, if its process is still the same; a lost answer is a time-out."""
        process = self._follower.broker
        is_answered = False

        def deliver(answer: object) -> None:
            nonlocal is_answered
            if not is_answered and not self._is_closed and self._follower.broker is process:
                is_answered = True
                done(answer)

        def answer(value: object) -> None:
            if not self._world.is_cut(self._follower.id, self._leader_id):
                self._world.later(lambda: deliver(value))

        self._world.at(500, lambda: deliver(NetworkError()))
        return answer
