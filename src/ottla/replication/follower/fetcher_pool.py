"""Which broker each followed partition is fetched from, and by which of the fetches to it."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from ottla.metadata.image.partition import NO_LEADER
from ottla.replication.follower.fetcher import Fetcher, FetcherContext
from ottla.replication.follower.leader_endpoint import LeaderEndpoint
from ottla.replication.partition.partition import Partition

EndpointOf: TypeAlias = Callable[[int, int], LeaderEndpoint]
"""Makes a connection to a broker, for one of the fetches to it by its number."""


class _Place(NamedTuple):
    """One of the fetch loops."""

    leader_id: int
    number: int


class FetcherPool:
    """The fetch loops of a broker, as many to each leader as `num.replica.fetchers` says. Loop thread only."""

    def __init__(self, context: FetcherContext, endpoint_of: EndpointOf, per_leader: int) -> None:
        self._context: Final = context
        self._endpoint_of: Final = endpoint_of
        self._per_leader = per_leader
        self._fetchers: dict[_Place, Fetcher] = {}
        self._place_of: dict[Partition, _Place] = {}

    def __len__(self) -> int:
        return len(self._fetchers)

    def follow(self, partition: Partition) -> None:
        """Fetches a partition from its leader, from the beginning of its leader epoch on; not at all without one."""
        self.leave(partition)
        leader_id = partition.leader_id
        if leader_id == NO_LEADER:
            return
        place = _Place(leader_id, self._number(partition))
        fetcher = self._fetchers.get(place)
        if fetcher is None:
            fetcher = Fetcher(leader_id, self._endpoint_of(leader_id, place.number), self._context)
            self._fetchers[place] = fetcher
        self._place_of[partition] = place
        fetcher.add(partition)

    def leave(self, partition: Partition) -> None:
        """Fetches a partition no more."""
        place = self._place_of.pop(partition, None)
        if place is not None:
            self._fetchers[place].remove(partition)

    def start_saved(self, partition: Partition) -> None:
        """The leader is to know where a partition's log begins."""
        place = self._place_of.get(partition)
        if place is not None:
            self._fetchers[place].start_saved(partition)

    def resize(self, per_leader: int) -> None:
        """Spreads the partitions over that many fetches to each leader."""
        if per_leader == self._per_leader:
            return
        self._per_leader = per_leader
        for partition, place in list(self._place_of.items()):
            if self._number(partition) != place.number:
                self.follow(partition)
        self.close_idle()

    def close_idle(self) -> None:
        """Lets go of brokers that nothing is fetched from any more."""
        for place, fetcher in list(self._fetchers.items()):
            if not len(fetcher):
                fetcher.close()
                del self._fetchers[place]

    def close(self) -> None:
        """Stops all."""
        for fetcher in self._fetchers.values():
            fetcher.close()
        self._fetchers.clear()
        self._place_of.clear()

    def _number(self, partition: Partition) -> int:
        """Neighbouring partitions of a topic get different fetches, as in Apache Kafka."""
        return (crc32(partition.topic.encode()) + partition.index) % self._per_leader
