"""Clients that are broken or slow: half frames, nonsense, polls that are abandoned, answers that nobody reads."""

import random
import socket
import struct
from collections import deque
from collections.abc import Callable

from ottla.protocol.definition import Request
from ottla.protocol.frame import encode_request
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.protocol.records.writer import write_batch
from tests.kafka.wire import Wire
from tests.soak.worker import Tell, Worker
from tests.torture.client.task import SOURCES

IDLE, FULL = "idle", "full"
"""Topics of two partitions: one that stays empty, one that has some megabytes."""
_HELD_MAX = 40
"""Connections that are kept as they are, the oldest closed for each new one."""
_FETCH, _JOIN, _PRODUCE = 12, 3, 9
"""The versions that are spoken."""
_NAMES_MAX = 20_000


class Connections(Worker):
    """Opens a connection, does what no good client would, and leaves it, or holds it for a while."""

    name = "connections"

    def __init__(self, bootstrap: str, seed: int, tell: Tell) -> None:
        super().__init__(bootstrap, seed, tell)
        self._addresses = [(host, int(port)) for host, _, port in (at.rpartition(":") for at in bootstrap.split(","))]
        self._held: deque[Wire] = deque()

    def pause(self) -> float:
        """Many in a second."""
        return self.dice.uniform(0, 0.1)

    def step(self) -> None:
        """One connection."""
        what, act = self.dice.choice(_ACTS)
        self.attempt(what, lambda: self._act(act))

    def end(self) -> None:
        """Closes what is held."""
        while self._held:
            self._held.popleft().socket.close()

    def _act(self, act: Callable[[Wire, random.Random], None]) -> None:
        wire = Wire(self.dice.choice(self._addresses), timeout=10)
        self._held.append(wire)
        if self.dice.random() < 0.5:
            wire.ask(_introduction(self.dice), 3)
        act(wire, self.dice)
        if self.dice.random() < 0.5:
            self._held.pop().socket.close()
        elif len(self._held) > _HELD_MAX:
            self._held.popleft().socket.close()


def _say_nothing(wire: Wire, dice: random.Random) -> None:
    """Only connects."""


def _half_frame(wire: Wire, dice: random.Random) -> None:
    frame = _frame(_fetch(dice, max_wait_ms=100), _FETCH)
    wire.socket.sendall(frame[: dice.randrange(1, len(frame))])


def _nonsense(wire: Wire, dice: random.Random) -> None:
    wire.socket.sendall(struct.pack(">i", dice.choice((-1, 0, 7, 2**31 - 1))) + dice.randbytes(dice.randrange(1, 100)))


def _abandoned_poll(wire: Wire, dice: random.Random) -> None:
    wire.send(_fetch(dice, max_wait_ms=dice.choice((300, 30_000))), _FETCH)


def _polls(wire: Wire, dice: random.Random) -> None:
    for _ in range(dice.randrange(1, 5)):
        wire.ask(_fetch(dice, max_wait_ms=20), _FETCH)


def _unread_answers(wire: Wire, dice: random.Random) -> None:
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(5):
        wire.send(_fetch(dice, max_wait_ms=0, topic=FULL), _FETCH)


def _abandoned_join(wire: Wire, dice: random.Random) -> None:
    protocol = JoinGroupRequestProtocol(name="range", metadata=bytes(8))
    group = f"soak-joined-{dice.randrange(_NAMES_MAX)}"
    wire.send(
        JoinGroupRequest(
            group_id=group,
            session_timeout_ms=6_000,
            rebalance_timeout_ms=6_000,
            protocol_type="consumer",
            protocols=[protocol],
        ),
        _JOIN,
    )


def _abandoned_produce(wire: Wire, dice: random.Random) -> None:
    batch = bytes(write_batch([(0, 0, b"key", b"value", ())]))
    topics = [TopicProduceData(name=SOURCES[0], partition_data=[PartitionProduceData(index=0, records=batch)])]
    wire.send(ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics), _PRODUCE)


_ACTS: tuple[tuple[str, Callable[[Wire, random.Random], None]], ...] = (
    ("connections that said nothing", _say_nothing),
    ("connections with half a frame", _half_frame),
    ("connections with nonsense", _nonsense),
    ("polls that were abandoned", _abandoned_poll),
    ("connections that polled", _polls),
    ("connections that read no answer", _unread_answers),
    ("joins that were abandoned", _abandoned_join),
    ("produce requests that were abandoned", _abandoned_produce),
)


def _introduction(dice: random.Random) -> ApiVersionsRequest:
    return ApiVersionsRequest(client_software_name="soak", client_software_version=str(dice.randrange(_NAMES_MAX)))


def _fetch(dice: random.Random, *, max_wait_ms: int, topic: str = IDLE) -> FetchRequest:
    """Half of them in a session; of an idle topic the answer comes when the wait is over."""
    places = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in range(2)]
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        session_epoch=dice.choice((0, -1)),
        topics=[FetchTopic(topic=topic, partitions=places)],
    )


def _frame(request: Request, version: int) -> bytes:
    return bytes(encode_request(request, version, correlation_id=1, client_id="soak"))
