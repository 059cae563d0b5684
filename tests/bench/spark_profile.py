"""Spark, the settings of `session()`: small work with the whole profile, and with Spark's default for one setting

The two take turns: in one driver where a session can change the setting, else in two, with two cores each. Less is
better; the median of the rounds, by the clock and by the CPU of Spark with its Python processes.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from tests.bench.measure import Figure
from tests.bench.spark_driver import OURS, Driver

_STREAMING = "org.apache.spark.sql.execution.streaming"
_WITHOUT = "Spark's default"

Numbers = tuple[float, float]


class Setting(NamedTuple):
    """One setting, what Spark has without the profile, and the work of `spark_profile_query` that shows it."""

    name: str
    default: str
    work: str
    measures: tuple[str, str] = ("ms", "ms of CPU")
    """What its two numbers are; "" for one that says nothing here."""


_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_HEAP_PROVIDER = f"{_STREAMING}.state.HDFSBackedStateStoreProvider"
_CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
SETTINGS = (
    Setting(
        "spark.sql.streaming.checkpointFileManagerClass",
        f"{_STREAMING}.checkpointing.FileContextBasedCheckpointFileManager",
        "log",
    ),
    Setting("spark.sql.shuffle.partitions", "200", "count"),
    Setting(_PROVIDER, _HEAP_PROVIDER, "count"),
    Setting(_PROVIDER, _HEAP_PROVIDER, "state", ("MB heap", "")),
    Setting(_CHANGELOG, "false", "count"),
    Setting(_CHANGELOG, "false", "state", ("", "MB written")),
    Setting("spark.python.daemon.module", "pyspark.daemon", "python"),
    Setting("spark.python.unix.domain.socket.enabled", "false", "python"),
    Setting("spark.scheduler.mode", "FIFO", "crowd"),
    Setting("spark.ui.enabled", "true", "start"),
)


def figures(*, seconds: float) -> Iterator[Figure]:
    """Each setting, twice."""
    yield from measured(SETTINGS, 2 if seconds < 1 else 7)


def measured(settings: Sequence[Setting], rounds: int) -> Iterator[Figure]:
    """The same for some settings; a round before the first warms up."""
    for setting in settings:
        found: dict[str, list[Numbers]] = {OURS: [], _WITHOUT: []}
        with ExitStack() as stack:
            asked = _questions(setting, stack)
            for _ in range(rounds + 1):
                for who, ask in asked.items():
                    found[who].append(ask())
        for number, unit in enumerate(setting.measures):
            if not unit:
                continue
            middle = {who: statistics.median(each[number] for each in times[1:]) for who, times in found.items()}
            name = f"{setting.name.removeprefix('spark.').removeprefix('sql.')}, {setting.work}"
            yield Figure(name[-43:], unit, middle.pop(OURS), middle, per="")


def _questions(setting: Setting, stack: ExitStack) -> dict[str, Callable[[], Numbers]]:
    """How each of the two is asked for its numbers. Drivers are new: one that has run longer has compiled more."""
    change = f"{setting.name}={setting.default}"
    if setting.work == "start":
        return {OURS: _start, _WITHOUT: lambda: _start(change)}
    ours = stack.enter_context(_driver())
    if setting.name.startswith("spark.sql."):
        return {OURS: lambda: ours.ask(setting.work), _WITHOUT: lambda: ours.ask(setting.work, change)}
    other = stack.enter_context(_driver(change))
    return {OURS: lambda: ours.ask(setting.work), _WITHOUT: lambda: other.ask(setting.work)}


def _driver(*changes: str) -> Driver:
    return Driver(sys.executable, "-m", "tests.bench.spark_profile_query", *changes)


def _start(*changes: str) -> Numbers:
    """Until a session is there."""
    start = time.perf_counter()
    with _driver(*changes) as driver:
        return 1000 * (time.perf_counter() - start), 1000 * driver.cpu_seconds()
