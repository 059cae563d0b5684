"""The main job: a broker, trucks that report to it, the pipeline on Spark, and a live view of it all.

Everything is started here and stopped with it. A second run with the same directory goes on where the first stopped:
the trucks, too, take up their routes again.
"""

import contextlib
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.base.errors import OttlaError
from ottla.client import Admin, Producer
from ottla.client.admin.value.offset import OffsetSpec
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from ottla.pipelines.session import check_java, check_memory
from ottla.pipelines.supervised_query import QueryFailedError, SupervisedQuery
from ottla.pipelines.trucks.broker_process import BrokerProcess
from ottla.pipelines.trucks.companion import Companion
from ottla.pipelines.trucks.driver_table import from_bundled, from_postgres, from_topic
from ottla.pipelines.trucks.generator import TruckFleet
from ottla.pipelines.trucks.live_view import Progress, render, summary
from ottla.pipelines.trucks.local_spark import LocalSpark
from ottla.pipelines.trucks.pipeline import POSITIONS, TOPICS, TruckPipeline
from ottla.pipelines.trucks.start_stage import stage
from ottla.pipelines.trucks.watch import Watch
from ottla.protocol.errors import TopicAlreadyExistsError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DRAW_SECONDS: Final = 0.5
_PRINT_SECONDS: Final = 5.0
_SEE_SECONDS_MIN: Final = 10.0
"""However long Spark took to start: so much of the pipeline is to be seen, unless less was asked for."""
_FINISH_SECONDS_MAX: Final = 120.0
"""Mostly it takes two; a machine that is busy with something else may take its time."""
_PARTITIONS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of the command line."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 9092
    seconds: float | None = None
    per_second: float = 200.0
    trucks: int = 20
    seed: int = 1
    drivers: str | None = None
    """Where the driver table is: None for the bundled one, `topic:NAME`, or PostgreSQL's URL."""


def run(options: RunOptions) -> int:
    """Runs until Ctrl-C, or for so many seconds; the exit code."""
    _check_numbers(options)
    check_java()
    check_memory()
    try:
        options.data.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OttlaError(f"--data {options.data}: {error.strerror}") from None
    progress = Progress(f"{options.host}:{options.port}")
    progress.counted.update(dict.fromkeys(TOPICS, 0))
    with _told_to_stop(), BrokerProcess(options.data, options.host, options.port) as broker:
        with stage("starting the broker"):
            broker.start()
            earlier = _prepare_topics(broker.bootstrap)
        spark = LocalSpark(options.data)
        with stage("starting Spark"):
            session = spark.start()
        try:
            with spark.told_if_it_ends():
                code = _run_pipeline(options, broker, session, progress, earlier)
        finally:
            # From here on everything ends, and asking for it again would only leave a part of it behind.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            spark.stop()
    print(summary(progress))
    return code


def _check_numbers(options: RunOptions) -> None:
    for name, value in (("trucks", options.trucks), ("rate", options.per_second), ("seconds", options.seconds)):
        if value is not None and not value > 0:
            raise OttlaError(f"--{name} {value}: has to be more than 0")


def _run_pipeline(
    options: RunOptions, broker: BrokerProcess, spark: "SparkSession", progress: Progress, earlier: int
) -> int:
    """Runs everything between the start and the end of Spark; the exit code."""
    # Twice a second is often enough for eyes, and leaves the machine to others in between.
    trigger = {"processingTime": "500 milliseconds"}
    pipeline = TruckPipeline(
        bootstrap=broker.bootstrap, checkpoints=options.data / "checkpoints", trigger=trigger, exactly_once=True
    )
    arrived, ended, interrupted = threading.Event(), threading.Event(), _noted_interrupts()
    watch = Watch(pipeline, progress, partitions=_PARTITIONS, earlier=earlier)
    driving = Companion(lambda: _drive(options, progress, earlier, arrived))
    watching = Companion(lambda: watch.run(ended))
    queries: list[SupervisedQuery] = []

    def check() -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        broker.check()
        driving.check()
        watching.check()
        for query in queries:
            query.check()

    try:
        watching.start()
        driving.start()
        for target, query in pipeline.queries(spark, _drivers(spark, options)).items():
            queries.append(query)
            with stage(f"starting the query that writes {target}"):
                query.start(meanwhile=check)
        if earlier:
            progress.note = f"goes on after {earlier:,} positions of earlier runs"
        _show(progress, check, _deadline(options, progress))
        arrived.set()
        _finish(progress, check)
    except KeyboardInterrupt:
        print("\n… stopping", flush=True)
    except QueryFailedError as error:
        broker.check()
        print(f"ottla: {error}", file=sys.stderr)
        return 1
    finally:
        arrived.set()
        ended.set()
        for thread in (driving, watching):
            if thread.ident is not None:
                thread.join(10)
        for query in queries:
            query.stop()
    return 0


@contextlib.contextmanager
def _told_to_stop() -> Iterator[None]:
    """`kill` means the same as Ctrl-C: without it the broker would stay behind."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


def _noted_interrupts() -> threading.Event:
    """From here on Ctrl-C and `kill` set the event, and whoever looks at it ends; a second one ends at once.

    An exception in the middle of a call to the JVM, where Spark's own handler raises one, comes out as py4j's.
    """
    noted = threading.Event()

    def note(number: int, frame: object) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return noted


def _prepare_topics(bootstrap: str) -> int:
    """Makes the topics that are not there yet; how many positions there are from earlier runs."""
    with Admin(bootstrap_servers=bootstrap) as admin:
        for topic in TOPICS:
            with contextlib.suppress(TopicAlreadyExistsError):
                admin.create_topics([NewTopic(topic, partitions=_PARTITIONS, replication_factor=1)])
        places = {TopicPartition(POSITIONS, number): OffsetSpec.LATEST for number in range(_PARTITIONS)}
        return sum(found.offset for found in admin.list_offsets(places).values())


def _drivers(spark: "SparkSession", options: RunOptions) -> "DataFrame":
    if options.drivers is None:
        return from_bundled(spark)
    if options.drivers.startswith("topic:"):
        return from_topic(spark, f"{options.host}:{options.port}", options.drivers.removeprefix("topic:"))
    return from_postgres(spark, options.drivers)


def _drive(options: RunOptions, progress: Progress, earlier: int, arrived: threading.Event) -> None:
    """Sends positions at the rate that was asked for."""
    fleet = TruckFleet(seed=options.seed, trucks=options.trucks)
    fleet.skip(earlier)
    with Producer(bootstrap_servers=f"{options.host}:{options.port}", linger_ms=5) as producer:
        start = progress.driving_since = time.monotonic()
        while not arrived.wait(0.02):
            due = int((time.monotonic() - start) * options.per_second)
            for _ in range(due - progress.sent):
                position = fleet.next(int(time.time() * 1000))
                producer.send(POSITIONS, value=position.to_json(), key=position.key)
                progress.sent += 1
    progress.arrived_at = time.monotonic()


def _deadline(options: RunOptions, progress: Progress) -> float | None:
    if options.seconds is None:
        return None
    return max(progress.started + options.seconds, time.monotonic() + min(options.seconds, _SEE_SECONDS_MIN))


def _show(progress: Progress, check: Callable[[], None], deadline: float | None) -> None:
    """Draws until the time is over; on something that is no terminal it prints a line now and then."""
    progress.stage = "running, Ctrl-C stops"
    screen = _Screen(progress)
    while deadline is None or time.monotonic() < deadline:
        screen.show()
        check()
        time.sleep(_DRAW_SECONDS)
    screen.show()


def _finish(progress: Progress, check: Callable[[], None]) -> None:
    """The trucks have arrived; waits until the pipeline has done what is left."""
    progress.stage = "finishing"
    screen = _Screen(progress)
    deadline = time.monotonic() + _FINISH_SECONDS_MAX
    # Two looks: what the first query has written last is the second one's lag a moment later.
    quiet = 0
    while quiet < 4 and time.monotonic() < deadline:
        screen.show()
        check()
        time.sleep(_DRAW_SECONDS)
        quiet = 0 if any(progress.lags.values()) else quiet + 1
    screen.show()


class _Screen:
    """The progress on the terminal."""

    def __init__(self, progress: Progress) -> None:
        self._progress: Final = progress
        self._is_terminal: Final = sys.stdout.isatty()
        self._printed_at = float("-inf")
        if self._is_terminal:
            sys.stdout.write("\x1b[2J")

    def show(self) -> None:
        """Draws over what was drawn before, or prints a line if it is time for one."""
        if self._is_terminal:
            size = shutil.get_terminal_size()
            lines = render(self._progress, width=size.columns).splitlines()[: size.lines - 1]
            sys.stdout.write("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
            sys.stdout.flush()
        elif time.monotonic() - self._printed_at >= _PRINT_SECONDS:
            self._printed_at = time.monotonic()
            counted = ", ".join(f"{topic} {count:,}" for topic, count in self._progress.counted.items())
            print(f"{self._progress.sent:,} sent; {counted}; lag {sum(self._progress.lags.values()):,}", flush=True)
