"""Where the replicas of new partitions go: striped over brokers and racks, as Kafka's StripedReplicaPlacer does it.

1. Leaders spread evenly: partition by partition, the first replica moves on to the next rack and broker.
2. The replicas of a partition spread over racks: each next one comes from the next rack, round and round, if there are
   fewer racks than replicas.
3. The first replica is never on a fenced broker; the others are only where there is no unfenced one left in the rack.
4. Where it all starts is chance, and after a full round the order is shuffled, so that no two brokers always follow
   each other.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ottla.base.chance import Chance
from ottla.protocol.errors import InvalidReplicationFactorError


class UsableBroker(NamedTuple):
    """A broker that may get replicas."""

    id: int
    rack: str | None
    fenced: bool


class _Ring:
    """The brokers of a rack that are alike; every round (`epoch`) starts one further."""

    def __init__(self, brokers: list[int], chance: Chance) -> None:
        self.brokers = sorted(brokers)
        self._offset = chance.randrange(len(brokers)) if brokers else 0
        self._index = 0
        self._epoch = 0

    def next(self, epoch: int) -> int | None:
        count = len(self.brokers)
        if not count:
            return None
        if self._epoch != epoch:
            self._epoch = epoch
            self._index = 0
            self._offset = (self._offset + 1) % count
        if self._index >= count:
            return None
        self._index += 1
        return self.brokers[(self._index - 1 + self._offset) % count]


class _Rack:
    def __init__(self, brokers: list[UsableBroker], chance: Chance) -> None:
        self.fenced = _Ring([broker.id for broker in brokers if broker.fenced], chance)
        self.unfenced = _Ring([broker.id for broker in brokers if not broker.fenced], chance)

    def next(self, epoch: int) -> int | None:
        unfenced = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if unfenced is None else unfenced


class ReplicaPlacer:
    """Places the partitions of one request.

    >>> from random import Random
    >>> placer = ReplicaPlacer([UsableBroker(id, None, fenced=False) for id in (1, 2, 3)], Random(0))
    >>> placements = [placer.place(2) for _ in range(3)]
    >>> sorted(leader for leader, _ in placements)
    [1, 2, 3]
    """

    def __init__(self, brokers: Iterable[UsableBroker], chance: Chance) -> None:
        by_rack: dict[str | None, list[UsableBroker]] = {}
        for broker in sorted(brokers):
            by_rack.setdefault(broker.rack, []).append(broker)
        self._chance = chance
        # Brokers without a rack form one of their own, which comes first.
        self._names = sorted(by_rack, key=lambda name: (name is not None, name or ""))
        self._racks = {name: _Rack(by_rack[name], chance) for name in self._names}
        self._total = sum(len(brokers) for brokers in by_rack.values())
        self._unfenced = sum(len(rack.unfenced.brokers) for rack in self._racks.values())
        self._epoch = 0
        self._offset = chance.randrange(len(self._names)) if self._names else 0

    def check(self, replication_factor: int) -> None:
        """Raises `InvalidReplicationFactorError` with Kafka's sentence if no partition could be placed."""
        if replication_factor <= 0:
            raise InvalidReplicationFactorError(
                f"Invalid replication factor {replication_factor}: the replication factor must be positive."
            )
        if not self._unfenced:
            raise InvalidReplicationFactorError(
                "All brokers are currently fenced, or have all their log directories cordoned."
            )
        if replication_factor > self._total:
            raise InvalidReplicationFactorError(
                f"The target replication factor of {replication_factor} cannot be reached because only {self._total} "
                "broker(s) are registered or some brokers have all their log directories cordoned."
            )

    def place(self, replication_factor: int) -> list[int]:
        """The brokers of the next partition, the preferred leader first."""
        self.check(replication_factor)
        if self._epoch == self._unfenced and self._unfenced > 1:
            self._shuffle()
            self._epoch = 0
        if self._offset == len(self._names):
            self._offset = 0
        leader, leader_rack = self._place_leader()
        brokers = [leader, *self._place_followers(replication_factor - 1, leader_rack)]
        self._epoch += 1
        self._offset += 1
        return brokers

    def _place_leader(self) -> tuple[int, int]:
        rack = self._offset
        while True:
            broker = self._racks[self._names[rack]].unfenced.next(self._epoch)
            if broker is not None:
                return broker, rack
            rack = (rack + 1) % len(self._names)

    def _place_followers(self, count: int, leader_rack: int) -> list[int]:
        followers: list[int] = []
        rack = self._offset
        skip: int | None = leader_rack
        while len(followers) < count:
            if rack == skip:
                # The leader's rack has had its turn; from the next round on it is like the others.
                skip = None
            else:
                broker = self._racks[self._names[rack]].next(self._epoch)
                if broker is not None:
                    followers.append(broker)
            rack = (rack + 1) % len(self._names)
        return followers

    def _shuffle(self) -> None:
        self._chance.shuffle(self._names)
        for name in sorted(self._racks, key=lambda name: (name is not None, name or "")):
            self._chance.shuffle(self._racks[name].fenced.brokers)
            self._chance.shuffle(self._racks[name].unfenced.brokers)
