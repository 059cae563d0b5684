"""What the truck pipeline has to give, worked out in plain Python from the positions."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from ottla.pipelines.trucks.driver_table import Driver
from ottla.pipelines.trucks.position import NORMAL

Row = dict[str, Any]
WINDOW_MS = 10_000


def dangerous(positions: Iterable[Row]) -> list[Row]:
    """Whatever is not normal."""
    return [row for row in positions if row["eventType"] != NORMAL]


def with_driver(events: Iterable[Row], drivers: Iterable[Driver]) -> list[Row]:
    """Each event with its driver's name, null for one that nobody knows."""
    names = {driver.driverId: (driver.firstName, driver.lastName) for driver in drivers}
    return [
        {**row, **dict(zip(("firstName", "lastName"), names.get(row["driverId"], (None, None)), strict=True))}
        for row in events
    ]


def counts(events: Iterable[Row]) -> dict[tuple[int, int], int]:
    """By the start of the window and the driver."""
    return dict(Counter((row["timestamp"] // WINDOW_MS * WINDOW_MS, row["driverId"]) for row in events))


def in_any_order(rows: Iterable[Row]) -> list[tuple[tuple[str, Any], ...]]:
    """Rows that can be compared with others, whatever their order."""
    return sorted((tuple(sorted(row.items())) for row in rows), key=repr)
