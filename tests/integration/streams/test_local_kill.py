"""kill -9 of processes that share an application, and of their broker, with exact accounting.

Exactly once a reader of `read_committed` finds in the end the counts 1, 2, 3 … n of each value once and in this order;
at least once it finds no gap. Each kill hits somewhere in a commit interval; every other time the disk is lost with
the process. `OTTLA_TEST_STREAMS_KILLS` sets how many kills the long form makes.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from tests.clients.server import OLD_RECORDS_STAY, kinds, start_server
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counts, produce, unaccounted, wait_until
from tests.kafka.server import Server

KILLS = int(os.environ.get("OTTLA_TEST_STREAMS_KILLS", "20"))
ROOT = Path(__file__).parents[3]


class Member:
    """A process that counts."""

    def __init__(self, arguments: tuple[str, ...], directory: Path) -> None:
        self._command = [sys.executable, "-m", "tests.integration.streams.counting", arguments[0], str(directory)]
        self._command += arguments[1:]
        self._directory = directory
        self._log = directory.with_suffix(".log")
        self.process = self._started()

    def kill(self, *, with_its_disk: bool) -> None:
        self.end()
        if with_its_disk:
            shutil.rmtree(self._directory, ignore_errors=True)
        self.process = self._started()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()

    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def _started(self) -> "subprocess.Popen[bytes]":
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        with self._log.open("ab") as log:
            return subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, env=environment
            )


@dataclass(frozen=True)
class Terms:
    """How a run goes."""

    kills: int
    count: int = 1
    guarantee: str = "exactly_once_v2"
    standbys: int = 0
    kills_broker: bool = False
    application_id: str = "counting"

    @property
    def settings(self) -> tuple[str, ...]:
        return (
            f"application_id={self.application_id}",
            f"processing_guarantee={self.guarantee}",
            f"num_standby_replicas={self.standbys}",
        )


@contextmanager
def members(terms: Terms, broker: Server, topics: tuple[str, str], directory: Path) -> Iterator[list[Member]]:
    arguments = (broker.bootstrap, *topics, *terms.settings)
    found = [Member(arguments, directory / f"member{number}") for number in range(terms.count)]
    try:
        yield found
    finally:
        for one in found:
            one.end()


def run(broker: Server, topics: tuple[str, str], directory: Path, chance: random.Random, terms: Terms) -> None:
    """Feeds and kills in turns."""
    source, target = topics
    values: list[str] = []
    with members(terms, broker, topics, directory) as found:
        for turn in range(terms.kills + 1):
            values += (more := [f"value {chance.randrange(40)}" for _ in range(300)])
            produce(broker.bootstrap, source, more)
            half = 150 * turn
            wait_until(lambda: counted(broker, target) > half)  # noqa: B023  (called at once)
            if turn < terms.kills:
                time.sleep(chance.random() * 0.2)
                if terms.kills_broker and turn % 3 == 1:
                    broker.kill()
                    broker.start()
                else:
                    chance.choice(found).kill(with_its_disk=turn % 2 == 1)
        try:
            wait_until(lambda: not unaccounted(values, counts(broker.bootstrap, target), terms.guarantee))
        except AssertionError:
            wrong = unaccounted(values, counts(broker.bootstrap, target), terms.guarantee)
            raise AssertionError((wrong, [one.output()[-4_000:] for one in found])) from None


def counted(broker: Server, target: str) -> int:
    return sum(map(len, counts(broker.bootstrap, target).values()))


def test_one_process_is_killed_and_nothing_is_lost_or_doubled(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    run(broker, (topic(partitions=2), topic(partitions=2)), tmp_path, random.Random(1), Terms(kills=2))


@pytest.mark.long
@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
@pytest.mark.parametrize(
    ("count", "standbys", "kills_broker"), [(1, 0, True), (2, 0, True), (2, 1, False), (3, 0, False)]
)
@pytest.mark.parametrize("kind", kinds())
def test_many_are_killed(
    kind: str, count: int, standbys: int, kills_broker: bool, guarantee: str, tmp_path: Path
) -> None:
    # The application's id is always the same: each run has a server of its own.
    settings = {"group_initial_rebalance_delay_ms": "0", "group_min_session_timeout_ms": "1000", **OLD_RECORDS_STAY}
    broker = start_server(kind, tmp_path / "server", **settings)
    try:
        with Admin(bootstrap_servers=broker.bootstrap) as admin:
            admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in ("source", "target")])
        terms = Terms(KILLS // 2, count, guarantee, standbys, kills_broker)
        run(broker, ("source", "target"), tmp_path, random.Random(count), terms)
    finally:
        broker.kill()
