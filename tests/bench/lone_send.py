"""What the express path gains: `send().result()`, one record of 100 bytes after the other, with it and without.

`python -m tests.bench.lone_send` runs each way in a process of its own, in turn, against one broker, and prints the
medians of the rounds. `make instructions` counts both ways outside of the kernel.
"""

import json
import resource
import statistics
import subprocess
import sys
import time

from ottla.client.producer.producer import Producer
from tests.bench.broker_contender import contender
from tests.bench.broker_frame import make_target
from tests.bench.instruction_client import VALUE, leave_to_loop
from tests.clients.server import OTTLA

_ROUNDS = 7
_WARM_UP, _SENDS = 500, 5_000
_WAYS = ("express", "loop")


def main() -> int:
    """Prints a line for each way, and the ratios."""
    found: dict[str, list[tuple[float, float]]] = {way: [] for way in _WAYS}
    with contender(OTTLA) as server:
        server.start()
        topic = make_target(server, "lone").name
        for _ in range(_ROUNDS):
            for way in _WAYS:
                command = [sys.executable, "-m", "tests.bench.lone_send", way, server.bootstrap, topic]
                said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
                found[way].append(tuple(json.loads(said)))
    medians = {
        way: [statistics.median(column) for column in zip(*rounds, strict=True)] for way, rounds in found.items()
    }
    for way, (median_us, cpu_us) in medians.items():
        print(f"{way:<10} p50 {median_us:7.1f} µs   CPU {cpu_us:7.1f} µs/send")
    ratios = [loop / express for loop, express in zip(medians["loop"], medians["express"], strict=True)]
    print(f"{'ratio':<10} p50 {ratios[0]:7.2f} ×    CPU {ratios[1]:7.2f} ×")
    return 0


def _measure(way: str, bootstrap: str, topic: str) -> tuple[float, float]:
    """The median of a send and its answer, and the CPU of this process for one, in microseconds."""
    if way == "loop":
        leave_to_loop()
    with Producer(bootstrap_servers=bootstrap, linger_ms=0, acks=1) as producer:
        for _ in range(_WARM_UP):
            producer.send(topic, VALUE, partition=0).result(60)
        spans = []
        before_s = _cpu_s()
        for _ in range(_SENDS):
            start = time.perf_counter()
            producer.send(topic, VALUE, partition=0).result(60)
            spans.append(time.perf_counter() - start)
        return statistics.median(spans) * 1e6, (_cpu_s() - before_s) / _SENDS * 1e6


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(_measure(*sys.argv[1:])))
        sys.exit(0)
    sys.exit(main())
