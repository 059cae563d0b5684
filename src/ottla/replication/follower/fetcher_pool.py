"""Which broker each followed partition is fetched from."""

from collections.abc import Callable
from typing import Final

from ottla.metadata.image.partition import NO_LEADER
from ottla.replication.follower.fetcher import Fetcher, FetcherContext
from ottla.replication.follower.leader_endpoint import LeaderEndpoint
from ottla.replication.partition.partition import Partition


class FetcherPool:
    """The fetch loops of a broker, by leader. Loop thread only."""

    def __init__(self, context: FetcherContext, endpoint_of: Callable[[int], LeaderEndpoint]) -> None:
        self._context: Final = context
        self._endpoint_of: Final = endpoint_of
        self._by_leader: dict[int, Fetcher] = {}
        self._leader_of: dict[Partition, int] = {}

    def __len__(self) -> int:
        return len(self._by_leader)

    def follow(self, partition: Partition) -> None:
        """Fetches a partition from its leader, from the beginning of its leader epoch on; not at all without one."""
        self.leave(partition)
        leader_id = partition.leader_id
        if leader_id == NO_LEADER:
            return
        fetcher = self._by_leader.get(leader_id)
        if fetcher is None:
            fetcher = Fetcher(leader_id, self._endpoint_of(leader_id), self._context)
            self._by_leader[leader_id] = fetcher
        self._leader_of[partition] = leader_id
        fetcher.add(partition)

    def leave(self, partition: Partition) -> None:
        """Fetches a partition no more."""
        leader_id = self._leader_of.pop(partition, None)
        if leader_id is not None:
            self._by_leader[leader_id].remove(partition)

    def start_saved(self, partition: Partition) -> None:
        """The leader is to know where a partition's log begins."""
        leader_id = self._leader_of.get(partition)
        if leader_id is not None:
            self._by_leader[leader_id].start_saved(partition)

    def close_idle(self) -> None:
        """Lets go of brokers that nothing is fetched from any more."""
        for leader_id, fetcher in list(self._by_leader.items()):
            if not len(fetcher):
                fetcher.close()
                del self._by_leader[leader_id]

    def close(self) -> None:
        """Stops all."""
        for fetcher in self._by_leader.values():
            fetcher.close()
        self._by_leader.clear()
        self._leader_of.clear()
