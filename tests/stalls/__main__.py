"""Prints how long a bystander waited while another client did something large: `python -m tests.stalls`.

Ours and, where Java is, Apache Kafka, one after the other on the same machine. The worst wait of a case and the 99.9th
percentile of all its waits; nothing is asserted, since a busy machine makes everybody wait.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from tests.bench.broker_contender import contender
from tests.bench.broker_frame import Target, make_target
from tests.clients.server import APACHE, OTTLA
from tests.kafka.peer import jar_directory
from tests.kafka.server import Server
from tests.kafka.wire import Wire
from tests.stalls.case import Work

_PATIENCE_S: Final = 1_800.0
_SETTINGS: Final = {"offsets_topic_num_partitions": "50"}


class Bystander:
    """The other client, and what it waited."""

    def __init__(self, server: Server, target: Target) -> None:
        host, port = server.address
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.stalls.bystander", host, str(port), str(target.id)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def waits_ms(self) -> list[float]:
        """Since the last time, sorted."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(file=self._process.stdin, flush=True)
        waits: list[float] = json.loads(self._process.stdout.readline())
        return waits

    def end(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.communicate()


def main() -> int:
    """Runs all cases on all servers that there are."""
    parser = argparse.ArgumentParser(prog="python -m tests.stalls", description=__doc__)
    parser.add_argument("--partitions", type=int, default=1_000, help="of each of the eight topics")
    parser.add_argument("--topics", type=int, default=5_000, help="of a single partition")
    parser.add_argument("--ours", action="store_true", help="no Apache Kafka beside")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    kinds = [OTTLA]
    if not arguments.ours and shutil.which("java") is not None and jar_directory().is_dir():
        kinds.append(APACHE)
    for kind in kinds:
        print(f"\n{kind}\n{'while another client asks for':<48}{'worst, ms':>12}{'p99.9, ms':>12}{'produces':>10}")
        with contender(kind, _SETTINGS) as server:
            server.start()
            _measure(server, arguments.partitions, arguments.topics)
    return 0


def _measure(server: Server, partitions: int, topics: int) -> None:
    target = make_target(server, "bystander")
    bystander = Bystander(server, target)
    try:
        with Wire(server.address, timeout=_PATIENCE_S) as wire:
            bystander.waits_ms()
            for name, case in Work(wire, target, partitions, topics).cases():
                print(_line(name, case, bystander), flush=True)
    finally:
        bystander.end()


def _line(name: str, case: Callable[[], object], bystander: Bystander) -> str:
    bystander.waits_ms()
    case()
    waits = bystander.waits_ms()
    return f"{name:<48}{waits[-1]:>12.1f}{waits[int(len(waits) * 0.999)]:>12.1f}{len(waits):>10}"


if __name__ == "__main__":
    sys.exit(main())
