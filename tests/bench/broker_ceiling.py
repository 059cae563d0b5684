"""What the load programs and the machine allow: the same load on a program in C that only answers.

For the megabytes it also writes what it received to a file, unchecked. A server near these figures is measured no more:
the machine is the limit then, and the table says so.
"""

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.base.ids import Uuid
from tests.bench import broker_frame
from tests.bench.broker_contender import cpu_seconds, data_parent, touch_memory
from tests.bench.broker_load import programs, run
from tests.bench.broker_raw import (
    FASTEST_BYTES_PER_SECOND,
    GIGABYTE,
    REQUEST_SHAPES,
    big_records,
    small_records,
)
from tests.clients.patience import until
from tests.kafka.port import free_port


def measure(*, seconds: float) -> dict[str, float]:
    """Figures with the names that `broker_raw` gives to a server's."""
    target = broker_frame.Target("nowhere", Uuid(bytes(16)))
    with tempfile.TemporaryDirectory(dir=data_parent()) as directory:
        home = Path(directory)
        big = broker_frame.produce_frame(home / "big", target, big_records())
        small = broker_frame.produce_frame(home / "small", target, small_records())
        return _megabytes(home, big, seconds) | _requests(small, seconds)


def _megabytes(home: Path, frame: Path, seconds: float) -> dict[str, float]:
    touch_memory(home, int(seconds * FASTEST_BYTES_PER_SECOND))
    with _sink(home / "written") as (port, pid):
        before = cpu_seconds(pid)
        done = run("replay", frame, port, 1, 5, seconds, broker_frame.produce_error_at())
        written = done["requests"] * len(big_records())
        cpu = cpu_seconds(pid) - before
    return {"raw produce, B/s": written / done["seconds"], "raw produce, CPU s/GB": cpu / (written / GIGABYTE)}


def _requests(frame: Path, seconds: float) -> dict[str, float]:
    figures: dict[str, float] = {}
    with _sink() as (port, _):
        for connections, in_flight in REQUEST_SHAPES:
            done = run("replay", frame, port, connections, in_flight, seconds, broker_frame.produce_error_at())
            figures[f"requests {connections} × {in_flight}, 1/s"] = done["requests"] / done["seconds"]
            if (connections, in_flight) == (1, 1):
                figures |= {f"synchronous {name}, µs": done[f"{name}_us"] for name in ("p50", "p99")}
    return figures


@contextmanager
def _sink(*file: Path) -> Iterator[tuple[int, int]]:
    """Its port and its process."""
    port = free_port()
    process = subprocess.Popen([str(programs() / "sink"), str(port), *map(str, file)])
    try:
        until(True, lambda: _listens(port))
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
