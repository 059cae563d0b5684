"""Streams on the local host: a count per key from topic to topic, CPU of a record and latency, beside quixstreams

100,000 keys, one partition, each record an update out and one into the changelog; states in LMDB (quixstreams has
RocksDB). It is the CPU of the process that computes, from its first record until all is committed. The latency is that
of single records at 1,000 a second, from `send` until a reader has the count. quixstreams comes into an environment of
its own with the first run.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.producer.producer import Producer
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.bench.streams import SOURCE, TARGET
from tests.clients.server import OTTLA
from tests.kafka.server import Server

_KEYS = 100_000
_QUIX = Path(tempfile.gettempdir(), "ottla-bench-quixstreams")
_LIMIT_S = 600


def figures(*, seconds: float) -> Iterator[Figure]:
    """Microseconds of CPU for a record, and milliseconds until it is there: less is better."""
    count = 100_000 if seconds < 1 else 300_000
    quix = _cpu("tests.bench.streams_local_quix", count, "at-least-once", python=_quix_python())
    for guarantee in ("at_least_once", "exactly_once_v2"):
        ours = _cpu("tests.bench.streams_local_query", count, guarantee)
        peers = {"quixstreams": quix} if guarantee == "at_least_once" else {}
        yield Figure(f"count per key, {guarantee}", "µs", ours, peers, "0.33×" if peers else "", per=" record")
    alone, together = (_shared(processes, 2 * count) for processes in (1, 2))
    yield Figure("count per key, two processes", "records", together, {"one process": alone})
    for guarantee, target in (("at_least_once", "10"), ("exactly_once_v2", "")):
        with _server() as server:
            yield Figure(
                f"produce → read, median, {guarantee}", "ms", _latency_ms(server, guarantee), {}, target, per=""
            )


def _cpu(module: str, count: int, guarantee: str, python: str = sys.executable) -> float:
    with _server() as server:
        with Producer(bootstrap_servers=server.bootstrap, linger_ms=5) as producer:
            for number in range(count):
                producer.send(SOURCE, key=b"%d" % (number * 7919 % _KEYS), value=b"value")
            producer.flush()
        command = [python, "-m", module, server.bootstrap, guarantee, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if done.returncode:
        raise RuntimeError(done.stderr[-3_000:])
    return float(done.stdout.split()[0])


def _shared(processes: int, count: int) -> float:
    """Records a second that so many processes count together."""
    with contender(OTTLA) as server:
        server.start()
        command = [
            sys.executable,
            "-m",
            "tests.bench.streams_local_share",
            server.bootstrap,
            str(processes),
            str(count),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if done.returncode:
        raise RuntimeError(done.stderr[-3_000:])
    return float(done.stdout.split()[-1])


def _latency_ms(server: Server, guarantee: str) -> float:
    command = [sys.executable, "-m", "tests.bench.streams_local_latency", server.bootstrap, guarantee]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_LIMIT_S)
    if done.returncode:
        raise RuntimeError(done.stderr[-3_000:])
    return statistics.median(map(float, done.stdout.split()))


class _server:  # noqa: N801  (a context, used as a function)
    """A server with the two topics."""

    def __enter__(self) -> Server:
        self._contender = contender(OTTLA)
        self._server = self._contender.__enter__()
        self._server.start()
        with Admin(bootstrap_servers=self._server.bootstrap) as admin:
            admin.create_topics([NewTopic(name, 1, 1) for name in (SOURCE, TARGET)])
        return self._server

    def __exit__(self, *exception: object) -> None:
        self._contender.__exit__(None, None, None)


def _quix_python() -> str:
    python = _QUIX / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(_QUIX)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "quixstreams"], check=True)
        time.sleep(1)
    return str(python)
