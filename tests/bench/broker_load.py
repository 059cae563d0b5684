"""The load programs of `load/`, compiled here and pointed at a server: raw sockets, prepared requests, C.

They check every answer's error code: a server that refuses is not fast.
"""

import atexit
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.bench import broker_frame
from tests.bench.broker_frame import Target
from tests.kafka.server import Server

_SOURCES = Path(__file__).parent / "load"


@lru_cache(maxsize=1)
def programs() -> Path:
    """Where the compiled programs are, until this process ends."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("the broker's bench needs a C compiler for its load")
    directory = Path(tempfile.mkdtemp(prefix="ottla-bench-load-"))
    atexit.register(shutil.rmtree, directory)
    for source in sorted(_SOURCES.glob("*.c")):
        subprocess.run([compiler, "-O2", "-o", str(directory / source.stem), str(source)], check=True)
    return directory


def run(program: str, *arguments: object) -> dict[str, Any]:
    """Runs a program; what it measured."""
    command = [str(programs() / program), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


@dataclass(frozen=True)
class Load:
    """The loads on one topic of one server; `directory` keeps the prepared requests."""

    server: Server
    target: Target
    directory: Path

    def produce(self, records: bytes, *, connections: int = 1, in_flight: int = 1, seconds: float) -> dict[str, Any]:
        """The same batch again and again."""
        frame = broker_frame.produce_frame(self.directory / "produce", self.target, records)
        error_at = broker_frame.produce_error_at()
        return run("replay", frame, self.server.port, connections, in_flight, seconds, error_at)

    def fetch(self, *, seconds: float) -> dict[str, Any]:
        """The whole partition, over and over."""
        frame = broker_frame.fetch_frame(self.directory / "fetch", self.target, max_wait_ms=100)
        at = broker_frame.fetch_offset_at(frame)
        error_at, records_at = broker_frame.fetch_error_and_records_at()
        return run("fetch", frame, self.server.port, at, error_at, records_at, seconds)

    def produce_to_fetch(self, records: bytes, first_offset: int, *, rounds: int) -> dict[str, Any]:
        """One record after the other to a fetch that waits for it."""
        produce = broker_frame.produce_frame(self.directory / "produce", self.target, records)
        fetch = broker_frame.fetch_frame(self.directory / "fetch", self.target, max_wait_ms=20_000)
        at = broker_frame.fetch_offset_at(fetch)
        error_at, _ = broker_frame.fetch_error_and_records_at()
        return run("poll", produce, fetch, self.server.port, first_offset, at, error_at, rounds)
