"""Trucks on the road: a fleet that reports its positions, all of it from one seed.

Every truck has a driver and a route, and moves along it. Now and then a driver is dangerous, some more than others. The
same seed gives the same positions in the same order; only the time is the caller's.
"""

from collections.abc import Iterator
from random import Random
from typing import Final

from ottla.pipelines.trucks.position import DANGEROUS, NORMAL, TruckPosition

DRIVER_IDS: Final = range(10, 33)
"""The drivers of the bundled table."""
_ROUTE_ENDS: Final = (
    ((38.63, -90.20), (35.15, -90.05)),
    ((41.88, -87.63), (38.63, -90.20)),
    ((39.10, -94.58), (41.59, -93.62)),
    ((36.15, -95.99), (38.63, -90.20)),
    ((41.26, -95.93), (39.10, -94.58)),
)
_CALM_DANGER, _WILD_DANGER = 0.02, 0.2
_WILD_SHARE: Final = 0.25
_STEPS: Final = 400
"""Reports from one end of a route to the other."""


class TruckFleet:
    """All trucks. `positions` goes on where it stopped.

    >>> fleet = TruckFleet(seed=1, trucks=2)
    >>> [fleet.next(0).truckId for _ in range(3)]
    [1, 2, 1]
    """

    def __init__(self, *, seed: int = 1, trucks: int = 20) -> None:
        random = Random(f"fleet {seed}")
        drivers = random.sample(DRIVER_IDS, min(trucks, len(DRIVER_IDS)))
        self._trucks = [
            _Truck(number, drivers[(number - 1) % len(drivers)], Random(f"truck {number} of {seed}"))
            for number in range(1, trucks + 1)
        ]
        self._turn = 0

    def next(self, now_ms: int) -> TruckPosition:
        """The next report; the trucks take turns."""
        truck = self._trucks[self._turn]
        self._turn = (self._turn + 1) % len(self._trucks)
        return truck.report(now_ms)

    def skip(self, count: int) -> None:
        """Drives on as if that many reports had been taken."""
        for _ in range(count):
            self.next(0)

    def positions(self, start_ms: int, *, per_second: float) -> Iterator[TruckPosition]:
        """Reports at an even pace, for ever, as fast as they are taken."""
        count = 0
        while True:
            yield self.next(start_ms + int(count * 1000 / per_second))
            count += 1


class _Truck:
    def __init__(self, truck_id: int, driver_id: int, random: Random) -> None:
        self._truck_id = truck_id
        self._driver_id = driver_id
        self._random = random
        self._route_id = random.randrange(len(_ROUTE_ENDS))
        self._step = random.randrange(_STEPS)
        self._correlation_id = random.getrandbits(62)
        self._danger = _WILD_DANGER if random.random() < _WILD_SHARE else _CALM_DANGER

    def report(self, now_ms: int) -> TruckPosition:
        """The position; the truck then moves on, and turns round at the end of its route."""
        (from_north, from_east), (to_north, to_east) = _ROUTE_ENDS[self._route_id]
        self._step = (self._step + 1) % (2 * _STEPS)
        share = abs(self._step - _STEPS) / _STEPS
        is_dangerous = self._random.random() < self._danger
        return TruckPosition(
            timestamp=now_ms,
            truckId=self._truck_id,
            driverId=self._driver_id,
            routeId=self._route_id,
            eventType=self._random.choice(DANGEROUS) if is_dangerous else NORMAL,
            latitude=round(to_north + (from_north - to_north) * share, 4),
            longitude=round(to_east + (from_east - to_east) * share, 4),
            correlationId=self._correlation_id,
        )
