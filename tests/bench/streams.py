"""Streams: CPU of a record in a stateful topology, by the engine with its store alone, and on Spark from topic to topic

Counts per key, of all time and of a minute, over 100,000 keys; each record is an update out and one into the changelog.
The store is LMDB; beside it the engine over dictionaries, which keep nothing. On Spark it is the CPU of a session with
all of its Python processes, of a run of 400,000 records, starts of queries included.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.streams import Consumed, Grouped, Materialized, Produced, Serdes, StreamsBuilder, TimeWindows, Topology
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.host.application import Application
from ottla.streams.host.batch_run import BatchRun
from ottla.streams.state.local_state import LocalState
from ottla.streams.testing import TopologyTestDriver
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.clients.server import OTTLA

SOURCE, TARGET = "in", "out"
_KEYS = 100_000
_BATCH = 50_000


def counting(*, windowed: bool) -> Topology:
    text = Serdes.string()
    builder = StreamsBuilder()
    grouped = builder.stream(SOURCE, Consumed.with_(text, text)).group_by_key(Grouped.with_(text, text))
    if not windowed:
        counts = grouped.count(materialized_as=Materialized.as_("counts")).to_stream()
        counts.to(TARGET, Produced.with_(text, Serdes.long()))
        return builder.build()
    minutes = grouped.windowed_by(TimeWindows.of_size_with_no_grace(60_000)).count(
        materialized_as=Materialized.as_("counts")
    )
    by_minute = minutes.to_stream(lambda key, count: f"{key.key}@{key.window.start}")
    by_minute.to(TARGET, Produced.with_(text, Serdes.long()))
    return builder.build()


def figures(*, seconds: float) -> Iterator[Figure]:
    """Microseconds of CPU, less is better."""
    batches = 4 if seconds < 1 else 12
    for name, windowed in (("count per key", False), ("count per key and minute", True)):
        ours, memory = _with_lmdb(counting(windowed=windowed), batches), _in_memory(counting(windowed=windowed))
        yield Figure(f"{name}, engine and store", "µs", ours, {"dictionaries, driver": memory}, per=" record")
    for name in ("count", "minute"):
        micros, latency_ms = _on_spark(name)
        yield Figure(f"{name} on Spark, topic to topic, exactly once", "µs", micros, per=" record")
        yield Figure(f"{name} on Spark, produce → read, median", "ms", latency_ms, per="")


def records(batch: int) -> list[InputRecord]:
    numbers = range(batch * _BATCH, (batch + 1) * _BATCH)
    return [InputRecord(SOURCE, 0, number, number, b"%d" % (number * 7919 % _KEYS), b"value") for number in numbers]


def _on_spark(name: str) -> tuple[float, float]:
    """Each with a server of its own: what one has written is not the other's input."""
    with contender(OTTLA) as server:
        server.start()
        command = [sys.executable, "-m", "tests.bench.streams_query", server.bootstrap, name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-3_000:])
    micros, latency_ms = map(float, done.stdout.split()[-2:])
    return micros, latency_ms


def _with_lmdb(topology: Topology, batches: int) -> float:
    """The best batch: the others had a neighbour."""
    application = Application.planned(topology, {"application.id": "bench"}, {SOURCE: 1})
    best = float("inf")
    with tempfile.TemporaryDirectory() as directory, LocalState(Path(directory), "bench", is_synced=False) as state:
        state.restore().commit({SOURCE: 0}, {})
        for number in range(batches):
            given = records(number)
            began = time.process_time()
            batch = state.begin({SOURCE: number * _BATCH})
            run = BatchRun(application, 0, batch)
            for _ in run.outputs({SOURCE: iter(given)}):
                pass
            batch.commit({SOURCE: (number + 1) * _BATCH}, run.times)
            best = min(best, (time.process_time() - began) / _BATCH)
    return best * 1e6


def _in_memory(topology: Topology) -> float:
    given = records(0)
    text = Serdes.string()
    with TopologyTestDriver(topology) as driver:
        source = driver.create_input_topic(SOURCE, text, text)
        began = time.process_time()
        for record in given:
            source.pipe_input((record.key or b"").decode(), "value", record.timestamp)
        return (time.process_time() - began) / _BATCH * 1e6
