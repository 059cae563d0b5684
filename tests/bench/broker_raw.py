"""Raw sockets on a broker: throughput, single-record requests, latencies, and the broker's CPU for it."""

import tempfile
from pathlib import Path
from typing import Any

from tests.bench.broker_contender import cpu_seconds, touch_memory
from tests.bench.broker_frame import make_target, records_of
from tests.bench.broker_load import Load
from tests.kafka.server import Server

_VALUE_BYTES = 100
_RECORDS_IN_A_MEGABYTE = 9_300
GIGABYTE = 1e9
FASTEST_BYTES_PER_SECOND = 1.5e9
REQUEST_SHAPES = ((1, 1), (10, 1), (50, 1), (10, 5))
"""Connections, and requests in flight on each."""


def big_records() -> bytes:
    """A megabyte of records of 100 bytes."""
    return records_of(_RECORDS_IN_A_MEGABYTE, _VALUE_BYTES)


def small_records() -> bytes:
    """A batch with one of them."""
    return records_of(1, _VALUE_BYTES)


def measure(server: Server, *, seconds: float, warm_up_seconds: float) -> dict[str, float]:
    """All figures of one server by their names."""
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        _warm_up(Load(server, make_target(server, "warm-up"), home), warm_up_seconds)
        figures = _throughput(Load(server, make_target(server, "throughput"), home), seconds)
        figures |= _requests(Load(server, make_target(server, "requests"), home), seconds)
        figures |= _latencies(Load(server, make_target(server, "latency"), home), seconds)
        figures |= _waiting(Load(server, make_target(server, "waiting"), home), seconds)
    return figures


def _warm_up(load: Load, seconds: float) -> None:
    """What a JVM needs to compile everything that is measured later; ours gets the same."""
    load.produce(small_records(), connections=10, seconds=seconds / 2)
    load.produce(big_records(), in_flight=5, seconds=seconds / 4)
    load.fetch(seconds=seconds / 4)


def _throughput(load: Load, seconds: float) -> dict[str, float]:
    records = big_records()
    touch_memory(load.server.directory, int(seconds * FASTEST_BYTES_PER_SECOND))
    before = cpu_seconds(load.server.pid)
    produced = load.produce(records, in_flight=5, seconds=seconds)
    between = cpu_seconds(load.server.pid)
    written = produced["requests"] * len(records)
    fetched = load.fetch(seconds=seconds)
    after = cpu_seconds(load.server.pid)
    return {
        "raw produce, B/s": written / produced["seconds"],
        "raw produce, CPU s/GB": (between - before) / (written / GIGABYTE),
        "raw fetch, B/s": fetched["bytes"] / fetched["seconds"],
        "raw fetch, CPU s/GB": (after - between) / (fetched["bytes"] / GIGABYTE),
    }


def _requests(load: Load, seconds: float) -> dict[str, float]:
    records = small_records()
    figures = {}
    for connections, in_flight in REQUEST_SHAPES:
        name = f"{connections} × {in_flight}"
        before = cpu_seconds(load.server.pid)
        done = load.produce(records, connections=connections, in_flight=in_flight, seconds=seconds)
        figures[f"requests {name}, 1/s"] = done["requests"] / done["seconds"]
        figures[f"requests {name}, CPU µs"] = (cpu_seconds(load.server.pid) - before) / done["requests"] * 1e6
    return figures


def _latencies(load: Load, seconds: float) -> dict[str, float]:
    done = load.produce(small_records(), seconds=2 * seconds)
    return {"synchronous p50, µs": done["p50_us"], "synchronous p99, µs": done["p99_us"]}


def _waiting(load: Load, seconds: float) -> dict[str, Any]:
    # The topic's first record, at offset 0, was written when it was made.
    done = load.produce_to_fetch(small_records(), 1, rounds=max(200, int(2_000 * seconds)))
    return {"produce to fetch p50, µs": done["p50_us"], "produce to fetch p99, µs": done["p99_us"]}
