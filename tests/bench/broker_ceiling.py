"""What the load programs and the machine allow: the same load on a program that only answers.

A server near this figure is measured no more: the load is the limit then, and the table says so.
"""

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.base.ids import Uuid
from tests.bench import broker_frame
from tests.bench.broker_load import programs, run
from tests.bench.broker_raw import REQUEST_SHAPES, big_records, small_records
from tests.clients.patience import until
from tests.kafka.port import free_port


def measure(*, seconds: float) -> dict[str, float]:
    """Figures with the names that `broker_raw` gives to a server's."""
    target = broker_frame.Target("nowhere", Uuid(bytes(16)))
    error_at = broker_frame.produce_error_at()
    with tempfile.TemporaryDirectory() as directory, _sink() as port:
        big = broker_frame.produce_frame(Path(directory) / "big", target, big_records())
        small = broker_frame.produce_frame(Path(directory) / "small", target, small_records())
        done = run("replay", big, port, 1, 5, seconds, error_at)
        figures = {"raw produce, B/s": done["requests"] * len(big_records()) / done["seconds"]}
        for connections, in_flight in REQUEST_SHAPES:
            done = run("replay", small, port, connections, in_flight, seconds, error_at)
            figures[f"requests {connections} × {in_flight}, 1/s"] = done["requests"] / done["seconds"]
            if (connections, in_flight) == (1, 1):
                figures |= {f"synchronous {name}, µs": done[f"{name}_us"] for name in ("p50", "p99")}
    return figures


@contextmanager
def _sink() -> Iterator[int]:
    port = free_port()
    process = subprocess.Popen([str(programs() / "sink"), str(port)])
    try:
        until(True, lambda: _listens(port))
        yield port
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
