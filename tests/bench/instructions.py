"""Instructions per request of the broker, and per record of the clients: `make instructions` prints them.

Requests go over one connection, a hundred in flight, to a lone broker under callgrind; the clients talk to a broker
that is not counted. docs/PERFORMANCE.md has the figures, and how far two runs of the same code are apart.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.protocol.definition import Request
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.bench.broker_frame import FETCH_VERSION, PRODUCE_VERSION, Target, make_target, produce, records_of
from tests.bench.coordinator_offset import COMMIT_VERSION, commit, wait_for_coordinator
from tests.bench.counted import CountedProgram, CountedServer, counting
from tests.clients.server import CLUSTER_ID, OLD_RECORDS_STAY, OttlaServer
from tests.kafka.server import Server
from tests.kafka.wire import Wire

_METADATA_VERSION = 12
_RECORD_BYTES = 100
_IN_FLIGHT = 100
_IDLE_SECONDS = 3
_WARM_UP, _REQUESTS = 200, 2_000
_RECORDS = {"send": 50_000, "poll": 50_000, "result": 1_000, "result by the loop": 1_000}
_WARM_UP_RECORDS = {"send": 50_000, "poll": 20_000, "result": 200, "result by the loop": 200}
"""A poll may bring more than is wanted, and has to find as many again."""
_NAMES = {
    "send": "client: send()",
    "poll": "client: poll()",
    "result": "client: send().result()",
    "result by the loop": "client: the same, left to the loop",
}


def main() -> int:
    """Prints a line for each figure as soon as it is there."""
    if shutil.which("valgrind") is None or shutil.which("callgrind_control") is None:
        print("needs valgrind: apt-get install valgrind", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="ottla-instructions-") as name:
        for what, instructions in of_broker(Path(name) / "broker"):
            print(f"{what:<44}{instructions:>12,.0f} instructions/request", flush=True)
        for what, instructions in of_clients(Path(name) / "clients"):
            print(f"{what:<44}{instructions:>12,.0f} instructions/record", flush=True)
    return 0


def of_broker(directory: Path) -> Iterator[tuple[str, float]]:
    """What a request takes that finds everything warm."""
    server = CountedServer(directory, **OLD_RECORDS_STAY)
    server.format(CLUSTER_ID)
    server.start()
    try:
        target = make_target(server, "counted")
        with Wire(server.address, timeout=600) as wire:
            wait_for_coordinator(wire, "counted", target.name)
            for what, request, version in _requests(target):
                yield what, _count(server, wire, request, version)
    finally:
        server.kill()


def of_clients(directory: Path) -> Iterator[tuple[str, float]]:
    """What a record of 100 bytes takes from `send` to its acknowledgement, and from the socket to the user."""
    directory.mkdir()
    server = OttlaServer(directory / "server", **OLD_RECORDS_STAY)
    server.format(CLUSTER_ID)
    server.start()
    try:
        target = make_target(server, "counted")
        for work, name in _NAMES.items():
            program = CountedProgram(directory, "tests.bench.instruction_client", server.bootstrap, target.name, work)
            program.ask(str(_WARM_UP_RECORDS[work]))
            yield name, program.count(str(_RECORDS[work]))
            program.close()
    finally:
        server.kill()


def _requests(target: Target) -> Iterator[tuple[str, Request, int]]:
    batch = records_of(1, _RECORD_BYTES)
    yield "produce: a record of 100 bytes, acks=1", produce(target, batch), PRODUCE_VERSION
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=len(batch))
    topics = [FetchTopic(topic_id=target.id, partitions=[partition])]
    fetch = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20, topics=topics)
    yield "fetch: a record of 100 bytes, no session", fetch, FETCH_VERSION
    yield "commit: an offset of a group without members", commit("counted", target.name, (0,)), COMMIT_VERSION
    yield (
        "metadata: a topic by name",
        MetadataRequest(topics=[MetadataRequestTopic(name=target.name)]),
        _METADATA_VERSION,
    )


def _count(server: Server, wire: Wire, request: Request, version: int) -> float:
    """Without what the broker does by the clock, which is the more the slower the machine is."""
    _replay(wire, request, version, _WARM_UP)
    start = time.monotonic()
    with counting(server.pid, server.directory) as idle:
        time.sleep(_IDLE_SECONDS)
    idle_rate = idle.instructions / (time.monotonic() - start)
    start = time.monotonic()
    with counting(server.pid, server.directory) as count:
        _replay(wire, request, version, _REQUESTS)
    return (count.instructions - idle_rate * (time.monotonic() - start)) / _REQUESTS


def _replay(wire: Wire, request: Request, version: int, times: int) -> None:
    """Always some ahead of the answers, so that the broker never waits for a client that has to wait for a core."""
    for _ in range(min(_IN_FLIGHT, times)):
        wire.send(request, version)
    for number in range(times):
        wire.take(request.api, version)
        if number + _IN_FLIGHT < times:
            wire.send(request, version)


if __name__ == "__main__":
    sys.exit(main())
