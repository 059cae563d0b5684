"""The fleet: the same seed, the same trucks."""

import itertools
import json

from ottla.pipelines.trucks.driver_table import bundled_drivers
from ottla.pipelines.trucks.generator import DRIVER_IDS, TruckFleet
from ottla.pipelines.trucks.position import DANGEROUS, NORMAL, TruckPosition


def _positions(seed: int, count: int) -> list[TruckPosition]:
    return list(itertools.islice(TruckFleet(seed=seed).positions(1_000, per_second=100), count))


def test_one_seed_is_one_fleet() -> None:
    assert _positions(7, 500) == _positions(7, 500)
    assert _positions(7, 500) != _positions(8, 500)


def test_reports_come_at_an_even_pace() -> None:
    assert [found.timestamp for found in _positions(1, 4)] == [1_000, 1_010, 1_020, 1_030]


def test_most_drive_quietly_and_some_don_t() -> None:
    kinds = [found.eventType for found in _positions(1, 5_000)]
    assert kinds.count(NORMAL) > 4_000
    assert set(kinds) == {NORMAL, *DANGEROUS}


def test_every_driver_is_in_the_table() -> None:
    known = {driver.driverId for driver in bundled_drivers()}
    assert set(DRIVER_IDS) == known
    assert {found.driverId for found in _positions(3, 200)} <= known


def test_a_report_is_a_json_object_with_the_names_of_its_fields() -> None:
    position = _positions(1, 1)[0]
    assert json.loads(position.to_json()) == position._asdict()


def test_trucks_move() -> None:
    places = {(found.latitude, found.longitude) for found in _positions(1, 400) if found.truckId == 1}
    assert len(places) > 10


def test_a_fleet_goes_on_after_those_that_were_skipped() -> None:
    fleet, other = TruckFleet(seed=3), TruckFleet(seed=3)
    for _ in range(50):
        fleet.next(0)
    other.skip(50)
    assert [fleet.next(0) for _ in range(20)] == [other.next(0) for _ in range(20)]
