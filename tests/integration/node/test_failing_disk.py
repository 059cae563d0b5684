"""A disk that is full or broken, on real processes: what was acknowledged is there, and the rest of the node goes on.

One of two data directories fails at some call that writes, flushes, makes, renames or removes something, while records,
topics, deletions and compaction keep it busy; or the directory with the metadata does, and the node ends.
`OTTLA_TEST_FAULTS=200` makes it a long one.
"""

import errno
import os
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.client import Admin, NewTopic, Producer
from tests.clients.server import CLUSTER_ID, OttlaServer
from tests.harness.troubled_disk import TroubledDisk
from tests.integration.node.writing import Writer, until

FAULTS = int(os.environ.get("OTTLA_TEST_FAULTS", "5"))
FULL, BROKEN, READ_ONLY = errno.ENOSPC, errno.EIO, errno.EROFS
PARTITIONS = 4
CALLS_MAX = 300
"""Records of a partition after which a call that should fail will not come any more."""
BUSY = {
    "log_flush_offset_checkpoint_interval_ms": "300",
    "replica_high_watermark_checkpoint_interval_ms": "200",
    "log_retention_check_interval_ms": "300",
    "log_initial_task_delay_ms": "300",
    "log_segment_delete_delay_ms": "100",
    "log_cleaner_backoff_ms": "200",
    "metadata_log_max_record_bytes_between_snapshots": "4000",
    "metadata_max_retention_bytes": "20000",
}


class TwoDisks(OttlaServer):
    """A node with a disk that can fail and one that is well; the metadata lies on either."""

    def __init__(self, directory: Path, *, metadata_fails: bool) -> None:
        self.failing, self.well = directory / "failing", directory / "well"
        metadata = self.failing if metadata_fails else self.well
        super().__init__(directory, log_dirs=f"{self.failing},{self.well}", metadata_log_dir=str(metadata), **BUSY)
        self.disk = TroubledDisk(self.failing, directory)

    def _serve_command(self) -> list[str]:
        return self.disk.command([*super()._serve_command()])


class Traffic:
    """Writers of a topic on both disks, and what else has a broker change files."""

    def __init__(self, server: TwoDisks) -> None:
        self._server = server
        self._stopping = threading.Event()
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            configs = {"segment.bytes": "1048576", "index.interval.bytes": "1024", "file.delete.delay.ms": "100"}
            admin.create_topics([
                NewTopic("kept", PARTITIONS, 1, configs=configs),
                NewTopic("short", PARTITIONS, 1, configs={**configs, "retention.bytes": "1048576"}),
                NewTopic("last", PARTITIONS, 1, configs={
                    **configs, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}),
            ])  # fmt: skip
        self.writers = [
            Writer(server.bootstrap, "kept", index, value_bytes=30_000, pause_s=0.005) for index in range(PARTITIONS)
        ]
        self._threads = [threading.Thread(target=self._churn), threading.Thread(target=self._fill)]
        for thread in self._threads:
            thread.start()

    def _churn(self) -> None:
        """Topics come and go. A disk that fails may refuse any of it."""
        number = 0
        with Admin(bootstrap_servers=self._server.bootstrap, request_timeout_ms=3_000) as admin:
            while not self._stopping.wait(0.05):
                number += 1
                with suppress(OttlaError):
                    admin.create_topics([NewTopic(f"passing-{number}", 2, 1)])
                with suppress(OttlaError):
                    admin.delete_topics([f"passing-{number}"])

    def _fill(self) -> None:
        """Segments for retention and for the cleaner; what becomes of these records is of no interest."""
        settings = {"bootstrap.servers": self._server.bootstrap, "delivery.timeout.ms": "3000",
                    "request.timeout.ms": "2000", "linger.ms": "0", "max.block.ms": "2000"}  # fmt: skip
        with Producer(settings) as producer:
            while not self._stopping.wait(0.01):
                for topic in ("short", "last"):
                    for partition in range(PARTITIONS):
                        with suppress(OttlaError):
                            producer.send(topic, bytes(40_000), b"k", partition=partition)

    def stop(self) -> None:
        """Ends all but the writers. A server that is away would have them wait."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(120)

    def acknowledged(self, partitions: list[int]) -> list[int]:
        return [self.writers[index].acknowledged for index in partitions]

    def go_on(self, partitions: list[int], records: int, is_enough: Callable[[], bool] = lambda: False) -> None:
        """Returns after that many more records in each of the partitions, or when there is enough, or no server."""
        before = self.acknowledged(partitions)
        until(
            lambda: (
                is_enough()
                or not self._server.is_running
                or all(now > then + records for now, then in zip(self.acknowledged(partitions), before, strict=True))
            )
        )

    def on(self, directory: Path) -> list[int]:
        """Partitions that live there."""
        return [index for index in range(PARTITIONS) if (directory / f"kept-{index}").exists()]


@contextmanager
def running(directory: Path, *, metadata_fails: bool = False) -> Iterator[tuple[TwoDisks, Traffic]]:
    server = TwoDisks(directory, metadata_fails=metadata_fails)
    server.format(CLUSTER_ID)
    server.start()
    try:
        traffic = Traffic(server)
        try:
            until(lambda: min(traffic.acknowledged([*range(PARTITIONS)])) > 20)
            yield server, traffic
        finally:
            traffic.stop()
        for writer in traffic.writers:
            writer.stop()
            writer.check(server.bootstrap)
    finally:
        server.kill()


def fail_one_of_two(directory: Path, kinds: str, error: int, *, after: int, once: bool, part: str = "/") -> None:
    with running(directory) as (server, traffic):
        well = traffic.on(server.well)
        assert well
        assert len(well) < PARTITIONS
        with server.disk.fails(kinds, error, after=after, once=once, part=part):
            traffic.go_on(well, CALLS_MAX, lambda: bool(server.disk.failures()))
            traffic.go_on(well, 30)
            assert server.is_running, f"after {server.disk.failures()[:1]}:\n{server.output()}"
        told = [line for line in server.lines() if "log directory offline" in line]
        assert len(told) <= 1, told
        for line in told:
            assert str(server.failing) in line
            assert f"{os.strerror(error)}; " in line
            assert "start the node again" in line
        traces = [line for line in server.lines() if "Traceback" in line]
        assert not traces, server.output()
        server.kill()
        server.start()


@pytest.mark.parametrize(
    ("kinds", "error", "once", "part"),
    [
        ("WC", FULL, False, "kept"),
        ("F", BROKEN, True, "/"),
        pytest.param("W", BROKEN, True, "kept", marks=pytest.mark.long),
        pytest.param("NC", READ_ONLY, False, "checkpoint", marks=pytest.mark.long),
        pytest.param("WCFNDU", READ_ONLY, False, "/", marks=pytest.mark.long),
    ],
)
def test_one_of_two_disks_fails(tmp_path: Path, kinds: str, error: int, *, once: bool, part: str) -> None:
    fail_one_of_two(tmp_path, kinds, error, after=0, once=once, part=part)


@pytest.mark.long
def test_one_of_two_disks_fails_anywhere(tmp_path: Path) -> None:
    for number in range(FAULTS):
        dice = random.Random(number)
        kinds = dice.choice(["W", "F", "C", "N", "D", "U", "WC", "WCFNDU"])
        error = dice.choice([FULL, BROKEN, READ_ONLY])
        part = dice.choice(["/", "kept", "short", "last", "passing", "checkpoint", ".index", ".snapshot"])
        after, once = dice.randrange(40), dice.random() < 0.5
        print(number, kinds, os.strerror(error), after, once, part)
        fail_one_of_two(tmp_path / str(number), kinds, error, after=after, once=once, part=part)


def fail_metadata(directory: Path, kinds: str, error: int, *, after: int, once: bool, part: str) -> None:
    """The node may go on where what failed can be done again; else it ends and says why."""
    with running(directory, metadata_fails=True) as (server, traffic):
        with server.disk.fails(kinds, error, after=after, once=once, part=part):
            traffic.go_on([*range(PARTITIONS)], CALLS_MAX, lambda: bool(server.disk.failures()))
            traffic.go_on([*range(PARTITIONS)], 20)
        assert not [line for line in server.lines() if "Traceback" in line], server.output()
        if not server.is_running:
            exits = [line for line in server.lines() if "Exiting: " in line]
            assert len(exits) == 1, server.output()
            assert f"{os.strerror(error)}; " in exits[0]
            assert "start the node again" in exits[0]
        server.kill()
        server.start()


@pytest.mark.parametrize(
    ("kinds", "error", "once"),
    [
        ("W", FULL, False),
        pytest.param("F", BROKEN, True, marks=pytest.mark.long),
        pytest.param("NUC", READ_ONLY, False, marks=pytest.mark.long),
    ],
)
def test_the_metadata_log_fails(tmp_path: Path, kinds: str, error: int, *, once: bool) -> None:
    fail_metadata(tmp_path, kinds, error, after=0, once=once, part="__cluster_metadata")


@pytest.mark.long
def test_the_metadata_log_fails_anywhere(tmp_path: Path) -> None:
    for number in range(FAULTS):
        dice = random.Random(number)
        kinds = dice.choice(["W", "F", "C", "N", "U", "WC", "WCFNDU"])
        error = dice.choice([FULL, BROKEN, READ_ONLY])
        after, once = dice.randrange(12), dice.random() < 0.5
        print(number, kinds, os.strerror(error), after, once)
        fail_metadata(tmp_path / str(number), kinds, error, after=after, once=once, part="__cluster_metadata")
