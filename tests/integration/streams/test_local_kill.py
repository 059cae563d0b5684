"""kill -9 of processes that share an application, exactly once, with exact accounting.

In the end a reader of `read_committed` finds the counts 1, 2, 3 … n of each value once and in this order. Each kill
hits somewhere in a commit interval; every other time the disk is lost with the process. `OTTLA_TEST_STREAMS_KILLS` sets
how many kills the long form makes.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.server import OLD_RECORDS_STAY, start_server
from tests.integration.streams.conftest import CreateTopic
from tests.integration.streams.counting import counts, expected, produce, wait_until
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


@contextmanager
def members(count: int, broker: Server, topics: tuple[str, str], directory: Path) -> Iterator[list[Member]]:
    found = [Member((broker.bootstrap, *topics), directory / f"member{number}") for number in range(count)]
    try:
        yield found
    finally:
        for one in found:
            one.end()


def run(
    broker: Server, topics: tuple[str, str], directory: Path, chance: random.Random, *, kills: int, count: int
) -> None:
    """Feeds and kills in turns."""
    source, target = topics
    values: list[str] = []
    with members(count, broker, topics, directory) as found:
        for turn in range(kills + 1):
            values += (more := [f"value {chance.randrange(40)}" for _ in range(300)])
            produce(broker.bootstrap, source, more)
            half = 150 * turn
            wait_until(lambda: counted(broker, target) > half)  # noqa: B023  (called at once)
            if turn < kills:
                time.sleep(chance.random() * 0.2)
                chance.choice(found).kill(with_its_disk=turn % 2 == 1)
        try:
            wait_until(lambda: counted(broker, target) >= len(values))
        finally:
            wrong = {
                key: (list_of, expected(values).get(key))
                for key, list_of in counts(broker.bootstrap, target).items()
                if list_of != expected(values).get(key, [])[: len(list_of)]
            }
            assert not wrong, (wrong, [one.output()[-4_000:] for one in found])
        assert counts(broker.bootstrap, target) == expected(values)


def counted(broker: Server, target: str) -> int:
    return sum(map(len, counts(broker.bootstrap, target).values()))


def test_one_process_is_killed_and_nothing_is_lost_or_doubled(
    broker: Server, topic: CreateTopic, tmp_path: Path
) -> None:
    run(broker, (topic(partitions=2), topic(partitions=2)), tmp_path, random.Random(1), kills=2, count=1)


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2, 3])
def test_many_are_killed(count: int, tmp_path: Path) -> None:
    # The application's id is always the same: each run has a server of its own.
    settings = {"group_initial_rebalance_delay_ms": "0", "group_min_session_timeout_ms": "1000", **OLD_RECORDS_STAY}
    broker = start_server("ottla", tmp_path / "server", **settings, num_partitions="2")
    try:
        with_admin(broker)
        run(broker, ("source", "target"), tmp_path, random.Random(count), kills=KILLS // 2, count=count)
    finally:
        broker.kill()


def with_admin(broker: Server) -> None:
    from ottla.client.admin.blocking_admin import Admin
    from ottla.client.admin.value.topic import NewTopic

    with Admin(bootstrap_servers=broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, partitions=2, replication_factor=1) for name in ("source", "target")])
