"""TLS: large produce and fetch requests over TLS 1.3 on a whole server, beside Apache Kafka 4.3.1 in the same run

One client in a process of its own, five requests in flight; CPU is the broker's alone. Each server runs alone, the JVM
warmed up first.
"""

import json
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench import broker_frame
from tests.bench.broker_contender import SETTINGS, contender, cpu_seconds, touch_memory
from tests.bench.broker_frame import make_target
from tests.bench.broker_raw import FASTEST_BYTES_PER_SECOND, GIGABYTE, big_records
from tests.bench.measure import Figure
from tests.clients.server import APACHE, OTTLA
from tests.integration.client.certificate import Authority
from tests.kafka.peer import require_kafka
from tests.kafka.port import free_port
from tests.kafka.server import Server

_WARM_UP_SECONDS = 8.0
_LINES = (
    ("produce", "B", "/s", "≥ 1.5×"),
    ("produce CPU", "s", "", "≤ 0.5×"),
    ("fetch", "B", "/s", "≥ 1.5×"),
    ("fetch CPU", "s", "", "≤ 0.5×"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """First Apache Kafka's, then ours."""
    require_kafka()
    peer = _measure(APACHE, seconds)
    ours = _measure(OTTLA, seconds)
    for name, unit, per, target in _LINES:
        title = f"  {name} for a GB" if unit == "s" else f"{name} over TLS, 1 MB requests"
        yield Figure(title, unit, ours[name], {"Kafka": peer[name]}, target, per)


def _measure(kind: str, seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home, contender(kind) as server:
        authority = Authority(Path(home), "authority")
        certificate = authority.sign("localhost", "DNS:localhost")
        port = free_port()
        endpoints = f"PLAINTEXT://127.0.0.1:{server.port},CONTROLLER://127.0.0.1:{server.controller_port}"
        endpoints += f",TLS://localhost:{port}"
        server.configure(
            **SETTINGS,
            listeners=endpoints,
            advertised_listeners=endpoints.replace(f"CONTROLLER://127.0.0.1:{server.controller_port},", ""),
            listener_security_protocol_map="PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL",
            ssl_keystore_type="PEM",
            ssl_keystore_location=str(certificate.both),
        )
        server.start()
        load = _Runs(server, Path(home), port, str(authority.certificate))
        if kind == APACHE:
            load.run("produce", "warm-up", _WARM_UP_SECONDS / 2)
            load.run("fetch", "warm-up", _WARM_UP_SECONDS / 2)
        touch_memory(server.directory, int(seconds * FASTEST_BYTES_PER_SECOND))
        produced, produce_cpu = load.run("produce", "measured", 3 * seconds)
        fetched, fetch_cpu = load.run("fetch", "measured", 3 * seconds)
        return {"produce": produced, "produce CPU": produce_cpu, "fetch": fetched, "fetch CPU": fetch_cpu}


class _Runs:
    def __init__(self, server: Server, home: Path, port: int, authority: str) -> None:
        self._server, self._home, self._port, self._authority = server, home, port, authority

    def run(self, work: str, topic: str, seconds: float) -> tuple[float, float]:
        """Bytes in a second, and the server's CPU for a gigabyte."""
        frame, error_at = self._frame(work, topic)
        arguments = [work, str(self._port), self._authority, str(frame), str(error_at), str(seconds)]
        before = cpu_seconds(self._server.pid)
        command = [sys.executable, "-m", "tests.bench.tls_load", *arguments]
        done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        cpu = cpu_seconds(self._server.pid) - before
        return done["bytes"] / done["seconds"], cpu / (done["bytes"] / GIGABYTE)

    def _frame(self, work: str, topic: str) -> tuple[Path, int]:
        path = self._home / f"{work}-{topic}"
        if work == "produce":
            target = make_target(self._server, topic)
            (self._home / topic).write_text(str(target.id))
            broker_frame.produce_frame(path, target, big_records())
            return path, broker_frame.produce_error_at()
        target = broker_frame.Target(topic, broker_frame.Uuid.parse((self._home / topic).read_text()))
        broker_frame.fetch_frame(path, target, max_wait_ms=100)
        at = broker_frame.fetch_offset_at(path)
        frame = bytearray(path.read_bytes())
        frame[at : at + 8] = struct.pack(">q", 0)
        path.write_bytes(frame)
        return path, broker_frame.fetch_error_and_records_at()[0]
