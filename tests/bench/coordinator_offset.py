"""Committed offsets under load: many groups that commit, many that don't, and a million records to load."""

import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ottla.protocol.definition import Request
from ottla.protocol.frame import encode_request, encode_response
from ottla.protocol.messages.find_coordinator import FindCoordinatorRequest
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.protocol.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from tests.bench.broker_contender import cpu_seconds, resident_bytes
from tests.bench.broker_load import run
from tests.clients.patience import until
from tests.kafka.server import Server
from tests.kafka.wire import Wire

COMMIT_VERSION = 8
_FIND_VERSION, _FETCH_VERSION = 4, 8
_MARK = 0x5A5B
_GROUPS = 50


def commits(server: Server, topic: str, *, seconds: float, warm_up_seconds: float) -> dict[str, float]:
    """Groups that commit one offset after the other, each on a connection of its own."""
    groups = [f"committing-{number}" for number in range(_GROUPS)]
    with Wire(server.address) as wire:
        for group in groups:
            wait_for_coordinator(wire, group, topic)
    with tempfile.TemporaryDirectory() as directory:
        frames = Path(directory) / "commits"
        frames.write_bytes(b"".join(_frame(commit(group, topic, (0,))) for group in groups))
        error_at = _error_at(topic)
        run("replay", frames, server.port, _GROUPS, 1, warm_up_seconds, error_at)
        before = cpu_seconds(server.pid)
        done = run("replay", frames, server.port, _GROUPS, 1, seconds, error_at)
        cpu = cpu_seconds(server.pid) - before
    return {"commits, 1/s": done["requests"] / done["seconds"], "commits, CPU µs": cpu / done["requests"] * 1e6}


def idle(server: Server, topic: str, *, groups: int, seconds: float) -> dict[str, float]:
    """What groups cost that have committed once and do nothing."""
    before = resident_bytes(server)
    with Wire(server.address) as wire:
        for request in _in_flight(wire, (commit(f"idle-{number}", topic, (0,)) for number in range(groups))):
            wire.take(request.api, COMMIT_VERSION)
    size = (resident_bytes(server) - before) / groups
    start = cpu_seconds(server.pid)
    time.sleep(seconds)
    return {"idle groups, B": max(size, 0.0), "idle groups, CPU %": 100 * (cpu_seconds(server.pid) - start) / seconds}


def loading(server: Server, topic: str, *, partitions: int, rounds: int) -> dict[str, float]:
    """A stopped server with `partitions × rounds` offset records of one group, and how fast it reads them again."""
    request = commit("loaded", topic, range(partitions))
    with Wire(server.address) as wire:
        wait_for_coordinator(wire, "loaded", topic)
        for sent in _in_flight(wire, (request for _ in range(rounds))):
            wire.take(sent.api, COMMIT_VERSION)
    server.stop()
    server.start()
    start = time.perf_counter()
    with Wire(server.address) as wire:
        asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="loaded", topics=None)])
        while wire.ask(asked, _FETCH_VERSION).groups[0].error_code:  # type: ignore[attr-defined]
            time.sleep(0.002)
    return {"loading, 1/s": partitions * rounds / (time.perf_counter() - start)}


def _in_flight(wire: Wire, requests: Iterator[OffsetCommitRequest]) -> Iterator[Request]:
    """Sends all, some ahead of the answers; yields each whose answer is to be taken now."""
    waiting: list[Request] = []
    for request in requests:
        wire.send(request, COMMIT_VERSION)
        waiting.append(request)
        if len(waiting) == 20:
            yield waiting.pop(0)
    yield from waiting


def wait_for_coordinator(wire: Wire, group: str, topic: str) -> None:
    """Until the group's commits are taken."""

    def error() -> int:
        wire.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=[group]), _FIND_VERSION)
        answer = wire.ask(commit(group, topic, (0,)), COMMIT_VERSION)
        assert isinstance(answer, OffsetCommitResponse)
        return answer.topics[0].partitions[0].error_code

    until(0, error)


def commit(group: str, topic: str, partitions: "range | tuple[int, ...]") -> OffsetCommitRequest:
    """A commit by a group that has no members."""
    offsets = [OffsetCommitRequestPartition(partition_index=index, committed_offset=12_345) for index in partitions]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=-1,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=offsets)],
    )


def _frame(request: OffsetCommitRequest) -> bytes:
    return encode_request(request, COMMIT_VERSION, correlation_id=1, client_id="bench")


def _error_at(topic: str) -> int:
    """Where the answer to a commit of one partition has its error code."""
    partition = OffsetCommitResponsePartition(partition_index=0, error_code=_MARK)
    response = OffsetCommitResponse(topics=[OffsetCommitResponseTopic(name=topic, partitions=[partition])])
    return encode_response(response, COMMIT_VERSION, correlation_id=1).index(struct.pack(">h", _MARK)) - 4
