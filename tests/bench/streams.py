"""Streams: the engine with its store alone, and applications on Spark beside Kafka Streams, from topic to topic

Filter and map; counts per key, of all time and of a minute, over 100,000 keys: each record is an update out and one
into the changelog. The store of the engine is LMDB; beside it the engine over dictionaries, which keep nothing. From
topic to topic all is exactly once: records a second of a backlog, CPU of a record with all processes of it,
and the median of the milliseconds from produce to read at 1,000 records a second. A state of ten million keys starts
from a snapshot; its memory is that of the process.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ottla.streams import Consumed, Grouped, Materialized, Produced, Serdes, StreamsBuilder, TimeWindows, Topology
from ottla.streams.engine.error_handler import InputRecord
from ottla.streams.host.application import Application
from ottla.streams.host.batch_run import BatchRun
from ottla.streams.state.local_state import LocalState
from ottla.streams.testing import TopologyTestDriver
from tests.bench.broker_contender import contender, data_parent
from tests.bench.measure import Figure
from tests.clients.server import OTTLA
from tests.kafka.peer import jar_directory

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
    yield from _start_from_snapshot(100_000 if seconds < 1 else 10_000_000)
    if seconds < 1:
        yield from _topic_to_topic("count", ("memory",), 200_000)
        return
    yield from _topic_to_topic("stateless", ("memory",), 1_000_000)
    for name in ("count", "minute"):
        yield from _topic_to_topic(name, ("rocksdb", "memory"), 1_000_000)


def topology(name: str) -> Topology:
    """One of the three."""
    if name != "stateless":
        return counting(windowed=name == "minute")
    text = Serdes.string()
    builder = StreamsBuilder()
    stream = builder.stream(SOURCE, Consumed.with_(text, text)).filter(lambda key, value: value != "")
    stream.map_values(lambda value: value.upper()).to(TARGET, Produced.with_(text, text))
    return builder.build()


def records(numbers: Iterable[int]) -> list[InputRecord]:
    return [InputRecord(SOURCE, 0, number, number, b"%d" % (number * 7919 % _KEYS), b"value") for number in numbers]


def _topic_to_topic(name: str, stores: Iterable[str], count: int) -> Iterator[Figure]:
    """Each with a server of its own: what one has written is not the other's input."""
    labels = {"rocksdb": "Kafka Streams, RocksDB", "memory": "Kafka Streams, in memory"}
    ours = _run("spark", name, count)
    peers = {labels[store]: _run(store, name, count) for store in stores} if _has_peer() else {}
    what, target = f"{name} on Spark, exactly once", "≥ 1×" if name == "stateless" else "≥ 0.5×"
    yield Figure(what, "records", ours[0], {peer: found[0] for peer, found in peers.items()}, target)
    yield Figure(f"{what}, CPU", "µs", ours[1], {peer: found[1] for peer, found in peers.items()}, per=" record")
    latencies = {peer: found[2] for peer, found in peers.items()}
    yield Figure(f"{what}, p50 at 1,000/s", "ms", ours[2], latencies, "≤ 300 ms", per="")


def _has_peer() -> bool:
    return shutil.which("java") is not None and any(jar_directory().glob("kafka-streams-*.jar"))


def _run(who: str, name: str, count: int) -> tuple[float, float, float]:
    with contender(OTTLA) as server:
        server.start()
        command = [sys.executable, "-m", "tests.bench.streams_query", server.bootstrap, who, name, str(count)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-3_000:])
    rate, micros, latency_ms = map(float, done.stdout.split()[-3:])
    return rate, micros, latency_ms


def _start_from_snapshot(keys: int) -> Iterator[Figure]:
    """A copied state, opened and read: what a task does whose disk is lost, but for the tail of the changelog."""
    with tempfile.TemporaryDirectory(dir=data_parent()) as directory:
        command = [sys.executable, "-m", "tests.bench.streams_snapshot", directory, str(keys)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    taken_s, started_s, megabytes = map(float, done.stdout.split())
    yield Figure(f"snapshot of {keys:,} keys, taken", "s", taken_s, per="")
    yield Figure(f"start from a snapshot of {keys:,} keys", "s", started_s, {}, "< 10 s", per="")
    yield Figure("and its memory", "MB", megabytes, per="")


def _with_lmdb(topology: Topology, batches: int) -> float:
    """The best batch: the others had a neighbour."""
    application = Application.planned(topology, {"application.id": "bench"}, {SOURCE: 1})
    best = float("inf")
    with tempfile.TemporaryDirectory() as directory, LocalState(Path(directory), "bench", is_synced=False) as state:
        state.restore().commit({SOURCE: 0}, {})
        for number in range(batches):
            given = records(range(number * _BATCH, (number + 1) * _BATCH))
            began = time.process_time()
            batch = state.begin({SOURCE: number * _BATCH})
            run = BatchRun(application, 0, batch)
            for _ in run.outputs({SOURCE: iter(given)}):
                pass
            batch.commit({SOURCE: (number + 1) * _BATCH}, run.times)
            best = min(best, (time.process_time() - began) / _BATCH)
    return best * 1e6


def _in_memory(topology: Topology) -> float:
    given = records(range(_BATCH))
    text = Serdes.string()
    with TopologyTestDriver(topology) as driver:
        source = driver.create_input_topic(SOURCE, text, text)
        began = time.process_time()
        for record in given:
            source.pipe_input((record.key or b"").decode(), "value", record.timestamp)
        return (time.process_time() - began) / _BATCH * 1e6
