"""Runner: pipelines of the kind `copy`, exactly once, under a control process: latency, and what idle ones cost

One pipeline at 1,000 records of 100 bytes a second, from just before a record is produced until a reader of committed
records has it. Then twenty in the same runner with nothing to do: the processors and the memory of all its processes.
"""

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from ottla.client import Consumer
from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.client.record import TopicPartition
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.status import State
from tests.bench.broker_contender import contender
from tests.bench.measure import Figure
from tests.bench.session_cpu import session_cores
from tests.bench.spark_latency import consume, produce
from tests.clients.server import OTTLA
from tests.integration.pipelines.control_process import ControlRun
from tests.integration.pipelines.query_driver import processes_of

_PER_SECOND = 1_000
_PIPELINES = 20
_PARTITIONS = 2
_PATIENCE_S = 120.0


def figures(*, seconds: float) -> Iterator[Figure]:
    """Milliseconds, share of a core, megabytes: less is better."""
    measured_s = 10.0 if seconds < 1 else 30.0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(contender(OTTLA))
        server.start()
        with Admin(bootstrap_servers=server.bootstrap) as admin:
            names = [f"{end}-{number}" for number in range(_PIPELINES) for end in ("in", "out")]
            admin.create_topics([NewTopic(name, _PARTITIONS, 1) for name in names])
        control = ControlRun(server.bootstrap, folder / "pipes", "--master", "local[4,4]")
        stack.callback(control.stop)
        control.start()
        _add(control, range(1))
        times = sorted(_times(server.bootstrap, measured_s))
        yield Figure("copy at 1,000 records/s, median", "ms", times[len(times) // 2], target="≤ 250 ms", per="")
        yield Figure("copy at 1,000 records/s, 99 %", "ms", times[len(times) * 99 // 100], target="≤ 1 s", per="")
        alone = _cores(control, measured_s)
        _add(control, range(1, _PIPELINES))
        all_of_them = _cores(control, measured_s)
        share = 100 * (all_of_them - alone) / (_PIPELINES - 1)
        yield Figure("an idle pipeline, of a core", "%", share, target="< 1 %", per="")
        yield Figure("20 idle pipelines and their runner, of a core", "%", 100 * all_of_them, per="")
        yield Figure("memory of that runner, all processes", "MB", _memory_mb(control), target="≤ 3,000 MB", per="")


def _add(control: ControlRun, numbers: range) -> None:
    for number in numbers:
        definition = {"from": f"in-{number}", "to": f"out-{number}"}
        control.write(PipelineSpec(name=f"copy-{number}", kind="copy", definition=definition))
    for number in numbers:
        control.wait_until(lambda number=number: control.state(f"copy-{number}") is State.RUNNING)  # type: ignore[misc]


def _times(bootstrap: str, measured_s: float) -> list[float]:
    ended = threading.Event()
    load = threading.Thread(target=produce, args=(bootstrap, "in-0", ended, _PER_SECOND))
    load.start()
    try:
        with Consumer(bootstrap_servers=bootstrap, isolation_level="read_committed") as consumer:
            partitions = [TopicPartition("out-0", number) for number in range(_PARTITIONS)]
            consumer.assign(partitions)
            consumer.seek_to_end(partitions)
            deadline_s = time.monotonic() + _PATIENCE_S
            while not consume(consumer, 1.0):
                assert time.monotonic() < deadline_s, "nothing comes through"
            consume(consumer, measured_s)
            return consume(consumer, measured_s)
    finally:
        ended.set()
        load.join()


def _cores(control: ControlRun, measured_s: float) -> float:
    """How many cores the runner keeps busy, after a while to settle."""
    time.sleep(measured_s)
    [session] = control.runners().values()
    return session_cores(session, measured_s)


def _memory_mb(control: ControlRun) -> float:
    """What its processes hold; a page that several share, as forked Pythons do, counts once."""
    [session] = control.runners().values()
    return sum(_proportional_mb(pid) for pid in processes_of(session))


def _proportional_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6
