"""Requests to be put to two servers, and what each of them answered."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.definition import Request
from ottla.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from tests.integration.broker.parity.asker import Asker
from tests.integration.broker.parity.shape import Mask
from tests.kafka.server import Server

CLUSTER_ID = "QUFBQUFBQUFBQUFBQUFBQQ"
_STABLE_ANSWERS = 3
_POLL_SECONDS = 0.05
_STABLE_SECONDS = 20.0


class Kind(Enum):
    """Whether a request may be repeated until its answer no longer changes."""

    READ = "read"
    WRITE = "write"


class Served:
    """A server that is asked, and what a request may need to know of it."""

    def __init__(self, server: Server) -> None:
        self.asker = Asker(server.address)
        self.mask = Mask()
        self.directory = str(server.log_directory)

    def topic_id(self, name: str) -> Uuid:
        """The id that this server gave a topic."""
        response = self.asker.answer(DescribeTopicPartitionsRequest(topics=[]), 0)
        assert isinstance(response, DescribeTopicPartitionsResponse)
        return next((topic.topic_id for topic in response.topics if topic.name == name), ZERO_UUID)

    def settle(self) -> None:
        """Waits until every partition has a leader."""
        deadline = time.monotonic() + _STABLE_SECONDS
        while True:
            response = self.asker.answer(DescribeTopicPartitionsRequest(topics=[]), 0)
            assert isinstance(response, DescribeTopicPartitionsResponse)
            if all(partition.leader_id >= 0 for topic in response.topics for partition in topic.partitions):
                return
            assert time.monotonic() < deadline, f"no leader: {response}"
            time.sleep(_POLL_SECONDS)


Make = Callable[[int, Served], Request]


@dataclass(frozen=True)
class Step:
    """One question, asked in each of `versions`; `deviation` says why we answer otherwise, on purpose."""

    name: str
    make: Make
    versions: Sequence[int]
    kind: Kind = Kind.READ
    deviation: str = ""
    until: Callable[[Any], bool] | None = None
    """Asked again until this holds: for what comes about by itself."""


def read(name: str, request: Request | Make, versions: Iterable[int] | None = None, **options: Any) -> Step:
    """A question that changes nothing; without `versions`, in all of them. `options` are `deviation` and `until`."""
    return _step(name, request, versions, Kind.READ, options)


def write(name: str, request: Request | Make, versions: Iterable[int] | None = None, **options: Any) -> Step:
    """A request that changes something; `make` gives each version a thing of its own to change."""
    return _step(name, request, versions, Kind.WRITE, options)


def _step(
    name: str, request: Request | Make, versions: Iterable[int] | None, kind: Kind, options: dict[str, Any]
) -> Step:
    if isinstance(request, Request):
        lowest, highest = request.valid_versions
        wanted = range(lowest, highest + 1) if versions is None else versions
        return Step(name, lambda version, served: request, list(wanted), kind, **options)
    assert versions is not None, f"{name}: which versions?"
    return Step(name, request, list(versions), kind, **options)


def answers(served: Served, steps: Iterable[Step]) -> dict[str, Any]:
    """What a server answers to every step, masked, by the step's name and version."""
    found: dict[str, Any] = {}
    changed = True
    for step in steps:
        if changed:
            served.settle()
        for version in step.versions:
            name = f"{step.name} v{version}"
            assert name not in found, f"two steps are called {name}"
            request = step.make(version, served)
            if step.until is not None or (step.kind is Kind.READ and changed):
                found[name] = _stable_answer(served, request, version, step.until)
                changed = False
            else:
                found[name] = served.mask.shape(served.asker.ask(request, version))
                changed = changed or step.kind is Kind.WRITE
    return found


def answers_of(server: Server, steps: Iterable[Step]) -> dict[str, Any]:
    """What a server answers that is formatted, started and stopped for it."""
    server.format(CLUSTER_ID)
    server.start()
    served = Served(server)
    try:
        return answers(served, steps)
    finally:
        served.asker.close()
        server.stop()


def _stable_answer(served: Served, request: Request, version: int, until: Callable[[Any], bool] | None) -> Any:
    """The answer once it stays the same: what was written reaches a broker a moment after the controller answered."""
    deadline = time.monotonic() + _STABLE_SECONDS
    last, same = None, 0
    while same < _STABLE_ANSWERS and time.monotonic() < deadline:
        answered = served.mask.shape(served.asker.ask(request, version))
        same = (same + 1 if answered == last else 1) if until is None or until(answered) else 0
        last = answered
        if same < _STABLE_ANSWERS:
            time.sleep(_POLL_SECONDS)
    return last
