"""Logs are made, deleted and moved on some threads while others list them, check them and give them settings."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from ottla.storage.cleaner.cleaner_config import CleanerConfig
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.disk.local import LocalDisk
from ottla.storage.log_manager import LogManager
from ottla.storage.log_manager_options import LogManagerOptions
from ottla.storage.topic_partition import TopicPartition
from tests.racing import racing_threads
from tests.unit.storage.cleaner.cleaning import ManualClock
from tests.unit.storage.log_builder import NOW_MS

SLEEPER = TopicPartition("sleeper", 0)
TOPIC_ID = Uuid(b"0123456789abcdef")
CHANGES = 60
LOOKS = 10
MANY = 2_500


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[LogManager]:
    made = LogManager(
        LogManagerOptions(
            directories=(str(tmp_path / "one"), str(tmp_path / "two")), disk=LocalDisk(), clock=ManualClock(NOW_MS)
        )
    )
    made.load()
    made.get_or_create(SLEEPER, TOPIC_ID)
    yield made
    made.shutdown()


def come_and_go(manager: LogManager, enough: threading.Event) -> None:
    """What the threads that set partitions up and take them away do, without what waits for the disk."""
    name = TopicPartition("churn", 0)
    log, home = manager.get_or_create(name, TOPIC_ID), manager.directories.home_of(name)
    assert home is not None
    while not enough.is_set():
        manager.directories.unsettle(name)
        manager.directories.settle(name, home, log)


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Work on another thread; whether it goes on."""
    problems: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - told to the test's own thread
            problems.append(error)

    thread = threading.Thread(target=run)
    with racing_threads():
        thread.start()
        try:
            yield thread.is_alive
        finally:
            thread.join()
    assert not problems


def _settings(manager: LogManager) -> None:
    manager.update_topic_config("many", {"retention.ms": "5000"})
    manager.update_default_config(manager.configs.default)


def _clean(manager: LogManager) -> None:
    assert not LogCleaner(manager, CleanerConfig()).due(NOW_MS)


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(_settings, id="settings"),
        pytest.param(lambda manager: manager.maintenance.checkpoint(), id="checkpoints"),
        pytest.param(lambda manager: manager.maintenance.cleanup(NOW_MS), id="retention"),
        pytest.param(lambda manager: manager.maintenance.flush_due(NOW_MS), id="flush"),
        pytest.param(_clean, id="cleaner"),
        pytest.param(lambda manager: manager.directories.offline_partitions(), id="offline partitions"),
    ],
)
def test_logs_come_and_go_while_others_list_them(manager: LogManager, look: Callable[[LogManager], object]) -> None:
    """A change by another thread is no trouble for who goes through all logs."""
    log, home = manager.get(SLEEPER), manager.directories.home_of(SLEEPER)
    assert log is not None
    assert home is not None
    # One log by many names: the list has to be long for a collection to begin within.
    names = [TopicPartition("many", index) for index in range(MANY)]
    for name in names:
        manager.directories.settle(name, home, log)
    enough = threading.Event()
    with meanwhile(lambda: come_and_go(manager, enough)):
        try:
            for _ in range(LOOKS):
                look(manager)
        finally:
            enough.set()
    for name in names:
        manager.directories.unsettle(name)


def test_a_log_that_moves_is_always_somewhere(manager: LogManager, tmp_path: Path) -> None:
    """Otherwise another one would be made of the same name, and take the appends."""

    def move() -> None:
        for _ in range(CHANGES // 2):
            home = manager.directories.home_of(SLEEPER)
            assert home is not None
            other = str(tmp_path / ("two" if home.path.endswith("one") else "one"))
            manager.add_future(SLEEPER, manager.open_future(SLEEPER, other))
            manager.begin_replacement(SLEEPER)()

    with meanwhile(move) as goes_on:
        while goes_on():
            assert manager.get(SLEEPER) is not None
            assert manager.directories.home_of(SLEEPER) is not None


def test_a_log_that_is_made_while_its_topic_is_altered_has_the_new_settings(manager: LogManager) -> None:
    """The settings may change between the moment that they are looked up and the one that the log is known."""
    names = [TopicPartition("altered", index) for index in range(CHANGES)]

    def make() -> None:
        for name in names:
            manager.get_or_create(name, TOPIC_ID)

    retention_ms = 0
    with meanwhile(make) as goes_on:
        while goes_on():
            retention_ms += 1
            manager.update_topic_config("altered", {"retention.ms": str(retention_ms)})
    assert {manager.get(name).config.retention_ms for name in names} == {retention_ms}  # type: ignore[union-attr]
