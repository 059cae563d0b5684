"""Every program of `examples/streams`: what it says, and its results against the same worked out in plain Python."""

import itertools
import json
import random
from collections import Counter, defaultdict

import pytest

from ottla.streams import TopologyTestDriver
from tests.unit.streams.example import PROGRAMS, example

SAID = {
    "fraud": ["rich 1200 CZ", "far 60 BR+CZ+FR"],
    "moving_average": ["average {'OTTL@5': 30.0, 'OTTL@10': 73.3}"],
    "outage": [
        "event time: 335 windows without an outage, 335 with it, the same: True; most in one: 2",
        "processing time: 335 windows without an outage, 125 with it, the same: False; most in one: 302",
    ],
    "page_views": ["europe@5 2", "asia@28 1", "unknown@3 1"],
    "table_over_time": [
        "at 0: {'Key1': 1.0}",
        "at 1: {'Key1': 1.0, 'Key2': 2.0}",
        "at 2: {'Key1': 1.1, 'Key2': 2.0}",
        "what was it at 1: 1.0",
        "what was it at 1: 1.05",
        "what is it at 2: 1.1",
    ],
    "tv_minutes": [
        "ann watched news for 15 minutes, then film",
        "bob watched sport for 25 minutes, then nothing",
        "still watching: ['eve']",
    ],
    "trucks": ["1700000010000 Jonas Keller 11"],
}
"""Lines that each program prints without an argument."""


def test_no_program_is_left_out() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.py")} == SAID.keys()


@pytest.mark.parametrize("name", sorted(SAID))
def test_a_program_says_what_it_should(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = example(name)
    module.main(*([None] if name == "trucks" else []))
    said = capsys.readouterr().out.splitlines()
    assert [line for line in SAID[name] if line not in said] == []


def test_the_moving_average_is_that_of_all_ticks_in_time() -> None:
    module = example("moving_average")
    chance = random.Random(4)
    ticks = [(second * 100 + chance.randrange(-1_500, 1_500), chance.randrange(100)) for second in range(20, 400)]
    sums: dict[str, list[int]] = defaultdict(list)
    stream_time = 0
    with TopologyTestDriver(module.topology()) as driver:
        source = driver.create_input_topic("ticks", module.TEXT, module.TICK)
        for at, price in ticks:
            source.pipe_input("S", {"at": at, "price": price}, 0)
            stream_time = max(stream_time, at)
            for start in range(max(0, at // 1_000 - 4), at // 1_000 + 1):
                if start * 1_000 + 5_000 + module.GRACE_MS > stream_time:
                    sums[f"S@{start + 5}"].append(price)
        found = driver.create_output_topic("moving-average", module.TEXT, module.Serdes.double())
        assert found.read_key_values_to_map() == {
            window: pytest.approx(sum(prices) / len(prices)) for window, prices in sums.items()
        }


def test_the_three_times_of_an_average() -> None:
    module = example("moving_average")
    for time, window in [("event", "S@5"), ("append", "S@15"), ("processing", "S@25")]:
        with TopologyTestDriver(module.topology(time), initial_wall_clock_ms=22_000) as driver:
            source = driver.create_input_topic("ticks", module.TEXT, module.TICK)
            source.pipe_input("S", {"at": 3_000, "price": 1.0}, 12_000)
            average = driver.create_output_topic("average", module.TEXT, module.Serdes.double())
            assert average.read_key_values_to_map() == {window: 1.0}


def test_every_minute_of_television_is_counted_once() -> None:
    module = example("tv_minutes")
    chance = random.Random(7)
    minutes: Counter[str] = Counter()
    reports: list[tuple[int, str, dict[str, str]]] = []
    for number in range(50):
        customer, now = f"c{number}", chance.randrange(60)
        for _ in range(6):
            channel, length = chance.choice("abc"), chance.randrange(1, 40)
            reports.append((now, customer, {"event": "tune", "channel": channel}))
            # A box that has nothing new to say reports all the same.
            reports += [(now + quiet, customer, {"event": "on"}) for quiet in range(20, length, 20)]
            is_silent = length > 2 and chance.random() < 0.2
            last = (length - 1) // 20 * 20 if is_silent else length
            minutes[f"{customer}/{channel}"] += last
            now += length
            if is_silent:
                now += 60
            elif chance.random() < 0.5:
                reports.append((now, customer, {"event": "off"}))
                now += chance.randrange(1, 90)
        reports.append((now, customer, {"event": "off"}))
    with TopologyTestDriver(module.topology()) as driver:
        source = driver.create_input_topic("reports", module.TEXT, module.REPORT)
        for minute, customer, report in sorted(reports, key=lambda one: one[0]):
            source.pipe_input(customer, report, minute * module.MINUTE_MS)
        source.pipe_input("end", {"event": "on"}, 100_000 * module.MINUTE_MS)
        found = driver.create_output_topic("minutes", module.TEXT, module.NUMBER).read_key_values_to_map()
        assert {key: count for key, count in found.items() if count} == +minutes
        assert not list(driver.get_key_value_store("watching").all())
        assert not list(driver.get_key_value_store("silent").all())


def test_trucks_counted_by_streams_are_those_of_plain_python() -> None:
    module = example("trucks")
    reports = list(module.on_the_road(3_000))
    names = dict(module.names())
    wanted: Counter[tuple[int, str]] = Counter()
    dangerous = [report for report in reports if report.eventType != module.NORMAL]
    for report in dangerous:
        wanted[report.timestamp // 10_000 * 10_000, names[str(report.driverId)]["lastName"]] += 1
    last = max(report.timestamp for report in dangerous)
    closed = {window: count for window, count in wanted.items() if window[0] + 15_000 <= last}
    counts = module.in_memory(iter(reports))
    assert {(one["windowStart"], one["lastName"]): one["count"] for one in counts} == closed
    assert len(counts) == len(closed)


def test_what_is_no_position_of_a_truck_is_left_out() -> None:
    module = example("trucks")
    [first, *_] = reports = list(module.on_the_road(200))
    noise = [b"no JSON", b"{}", b'{"timestamp":"soon"}', b"[]", None]
    stranger = first._replace(eventType="Overspeed", driverId=999)
    with TopologyTestDriver(module.topology()) as driver:
        source = driver.create_input_topic(module.POSITIONS, module.TEXT, module.RAW)
        for value in itertools.chain(noise, [report.to_json() for report in [*reports, stranger]], noise):
            source.pipe_input(None, value, 5)
        driven = driver.create_output_topic(module.DRIVEN, module.TEXT, module.EVENT).read_values_to_list()
        dangerous = driver.create_output_topic(module.DANGEROUS, module.TEXT, module.RAW).read_values_to_list()
    wanted = [report for report in [*reports, stranger] if report.eventType != module.NORMAL]
    assert [json.loads(value) for value in dangerous] == [report._asdict() for report in wanted]
    assert [(one["driverId"], one["lastName"]) for one in driven] == [(one.driverId, None) for one in wanted]
