"""OffsetCommit on its short way and by its handler: the same answers, the same log, the same offsets afterwards."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ottla.base.accelerated import compiled_module
from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from ottla.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from tests.unit.broker.coordinator_host.conftest import CoordinatorBroker
from tests.unit.broker.coordinator_host.test_group_call import member
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.recorder import RecordedExchange, frame_of

pytestmark = pytest.mark.skipif(
    compiled_module("ottla.broker.request._commit_lane") is None,
    reason="the lane is compiled, and this installation is not",
)

VERSIONS = range(5, 11)
STRANGER = Uuid(b"nobody knows me!")


@dataclass
class Watched:
    """A lane, and how many requests it has taken."""

    lane: Any
    taken: int = 0

    def take(self, *request: object) -> bool:
        is_taken = bool(self.lane.take(*request))
        self.taken += is_taken
        return is_taken


@dataclass
class Twins:
    """Two brokers with the same life; only the first has lanes."""

    short: CoordinatorBroker
    long: CoordinatorBroker
    lanes: dict[int, Watched] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for version in VERSIONS:
            with_lane = self.short.broker.pipeline.route(ApiKey.OFFSET_COMMIT, version)
            without = self.long.broker.pipeline.route(ApiKey.OFFSET_COMMIT, version)
            assert with_lane is not None
            assert without is not None
            self.lanes[version] = with_lane.lane = Watched(with_lane.lane)  # type: ignore[assignment]
            without.lane = None

    @property
    def taken(self) -> int:
        return sum(lane.taken for lane in self.lanes.values())

    def each(self, do: Callable[[CoordinatorBroker], Any]) -> Any:
        """The same with both; what came of it, which must be the same."""
        short, long = do(self.short), do(self.long)
        assert short == long
        return short

    def send(self, frame: bytes) -> tuple[RecordedExchange, RecordedExchange]:
        """A request to both; it may be answered later."""
        exchanges = RecordedExchange(), RecordedExchange()
        for twin, exchange in zip((self.short, self.long), exchanges, strict=True):
            twin.broker.pipeline.received(memoryview(bytearray(frame)), exchange)  # type: ignore[arg-type]
        return exchanges

    def ask(self, request: OffsetCommitRequest, version: int) -> list[tuple[int, int]]:
        """The answers, which must be the same bytes; partitions and codes."""
        short, long = self.send(bytes(frame_of(request, version)))
        self.each(lambda twin: twin.broker.loop.run())
        assert short.frame == long.frame
        response = short.response(ApiKey.OFFSET_COMMIT, version)
        assert isinstance(response, OffsetCommitResponse)
        return [(found.partition_index, found.error_code) for topic in response.topics for found in topic.partitions]

    def compare(self) -> None:
        """What is in the logs and in the coordinators' memories."""
        for partition in range(3):
            self.each(lambda twin, at=partition: log_bytes(twin, at))  # type: ignore[misc]
            self.each(lambda twin, at=partition: shard(twin, at).state.offsets)  # type: ignore[misc]
            self.each(lambda twin, at=partition: shard(twin, at).committed_state.offsets)  # type: ignore[misc]


def shard(twin: CoordinatorBroker, partition: int) -> Any:
    return twin.broker.coordinators.groups.shards.get(partition)


def log_bytes(twin: CoordinatorBroker, partition: int) -> bytes:
    log = twin.broker.replicas.leader("__consumer_offsets", partition).log
    return Path(f"{log.directory}/00000000000000000000.log").read_bytes()


@pytest.fixture
def make_twins(tmp_path: Path) -> Iterator[Callable[..., Twins]]:
    made: list[DataBroker] = []

    def make(*, replicas: int = 1, **settings: str) -> Twins:
        brokers = []
        for name in ("short", "long"):
            (tmp_path / name).mkdir()
            broker = DataBroker(tmp_path / name, brokers=replicas, group_initial_rebalance_delay_ms="0", **settings)
            made.append(broker)
            brokers.append(CoordinatorBroker(broker))
            brokers[-1].create_internal(replicas=replicas)
            broker.create("orders", 3)
            broker.create("lagers", 2)
        return Twins(*brokers)

    yield make
    for broker in made:
        broker.close()


def offset(index: int = 0, committed_offset: int = 5, **fields: object) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(partition_index=index, committed_offset=committed_offset, **fields)


def request(*partitions: OffsetCommitRequestPartition, version: int, **fields: object) -> OffsetCommitRequest:
    """A commit of partitions of `orders`."""
    return OffsetCommitRequest(**{"group_id": "g", "topics": [topic("orders", *partitions, version=version)], **fields})


def topic(name: str, *partitions: OffsetCommitRequestPartition, version: int) -> OffsetCommitRequestTopic:
    made = OffsetCommitRequestTopic(partitions=list(partitions))
    if version >= 10:
        made.topic_id = Uuid(name.encode().ljust(16, b"-")[:16])
    else:
        made.name = name
    return made


@pytest.mark.parametrize("version", VERSIONS)
def test_the_first_commit_makes_the_group_and_the_others_are_taken(
    make_twins: Callable[..., Twins], version: int
) -> None:
    twins = make_twins()
    assert twins.ask(request(offset(), version=version), version) == [(0, 0)]
    assert twins.taken == 0
    metadata = "größer" if version < 8 else "größer" * 10
    epoch = {"committed_leader_epoch": 7} if version >= 6 else {}
    commits = [offset(2, 2**62, committed_metadata=metadata, **epoch), offset(0, -1, committed_metadata="")]
    assert twins.ask(request(*commits, offset(0, 3), version=version), version) == [(2, 0), (0, 0), (0, 0)]
    two = [topic("lagers", offset(1), version=version), topic("orders", offset(1), version=version)]
    assert twins.ask(request(version=version, topics=two), version) == [(1, 0), (1, 0)]
    assert twins.taken == 2
    twins.compare()


@pytest.mark.parametrize("version", VERSIONS)
def test_members_and_those_who_are_not(make_twins: Callable[..., Twins], version: int) -> None:
    twins = make_twins()
    members = (member(twins.short), member(twins.long))

    def codes(generation: int, member_ids: tuple[str, str], **fields: object) -> list[int]:
        found = []
        for twin, member_id in zip((twins.short, twins.long), member_ids, strict=True):
            made = request(
                offset(), version=version, generation_id_or_member_epoch=generation, member_id=member_id, **fields
            )
            answer = twin.ask(made, version, OffsetCommitResponse)
            found.append(answer.topics[0].partitions[0].error_code)
        assert found[0] == found[1]
        return found[:1]

    assert codes(1, members) == [0]
    assert twins.taken == 1
    assert codes(2, members) == [ErrorCode.ILLEGAL_GENERATION]
    assert codes(1, ("x", "x")) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert codes(-1, ("", "")) == [ErrorCode.UNKNOWN_MEMBER_ID]
    if version >= 7:
        assert codes(1, members, group_instance_id="i") == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert twins.taken == 1
    # A commit keeps the session alive as a heartbeat does.
    for _ in range(3):
        twins.each(lambda twin: twin.broker.loop.advance(9_000))
        assert codes(1, members) == [0]
    assert twins.taken == 4


def test_what_is_out_of_the_ordinary_goes_the_long_way(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins(offset_metadata_max_bytes="100")
    twins.ask(request(offset(), version=8), 8)
    unknown, too_large = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert twins.ask(request(offset(3), offset(0), version=8), 8) == [(3, unknown), (0, 0)]
    assert twins.ask(request(offset(0, committed_metadata="x" * 101), offset(1), version=8), 8) == [
        (0, too_large),
        (1, 0),
    ]
    assert twins.ask(request(version=8, topics=[topic("none", offset(), version=8)]), 8) == [(0, unknown)]
    stranger = OffsetCommitRequestTopic(topic_id=STRANGER, partitions=[offset()])
    assert twins.ask(request(version=10, topics=[stranger]), 10) == [(0, ErrorCode.UNKNOWN_TOPIC_ID)]
    assert twins.ask(request(version=8, topics=[]), 8) == []
    assert twins.ask(request(offset(), version=8, group_id=""), 8) == [(0, 0)]
    assert twins.taken == 0
    twins.compare()


def test_a_round_shares_an_append(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins()
    groups = [f"group-{number}" for number in range(9)]
    for _ in range(3):
        exchanges = [
            twins.send(bytes(frame_of(request(offset(number % 3), version=8, group_id=group), 8)))
            for number, group in enumerate(groups)
        ]
        twins.each(lambda twin: twin.broker.loop.run())
        assert all(short.frame == long.frame is not None for short, long in exchanges)
    assert twins.taken == 18
    twins.compare()


def test_a_group_that_was_deleted_or_lost_its_offsets(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins()
    twins.ask(request(offset(), version=9), 9)
    asked = OffsetDeleteRequestTopic(name="orders", partitions=[OffsetDeleteRequestPartition(partition_index=0)])
    deletion = OffsetDeleteRequest(group_id="g", topics=[asked])
    assert twins.each(lambda twin: twin.ask(deletion, 0, OffsetDeleteResponse).error_code) == 0
    assert twins.ask(request(offset(), version=9), 9) == [(0, 0)]
    assert twins.taken == 1
    twins.compare()


def test_a_topic_that_comes_again_by_the_same_name(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins()
    for _ in range(2):
        twins.ask(request(offset(2), version=9), 9)
    old = twins.short.broker.metadata.topic_id("orders")
    twins.each(lambda twin: twin.broker.delete(old))
    twins.each(lambda twin: twin.broker.loop.advance(100))
    assert twins.ask(request(offset(2), version=9), 9) == [(2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    twins.each(lambda twin: twin.broker.create("orders", 2))
    assert twins.ask(request(offset(2), version=9), 9) == [(2, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
    twins.ask(request(offset(1), version=9), 9)
    twins.compare()


def test_replicas_are_waited_for_and_given_up(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins(replicas=2)
    frame = bytes(frame_of(request(offset(), offset(2), version=8), 8))
    first, second = twins.send(frame), twins.send(frame)
    twins.each(lambda twin: twin.broker.loop.run())
    assert twins.taken == 1
    assert not any(exchange.is_done for exchange in (*first, *second))
    twins.each(lambda twin: twin.broker.loop.advance(6_000))
    assert first[0].frame == first[1].frame == second[0].frame == second[1].frame
    response = second[0].response(ApiKey.OFFSET_COMMIT, 8)
    assert isinstance(response, OffsetCommitResponse)
    codes = [found.error_code for found in response.topics[0].partitions]
    assert codes == [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 2


def test_who_is_no_coordinator_says_so(make_twins: Callable[..., Twins]) -> None:
    twins = make_twins()
    twins.ask(request(offset(), version=8), 8)
    frame = bytes(frame_of(request(offset(), version=8), 8))
    waiting = twins.send(frame)
    offsets = twins.short.broker.metadata.topic_id("__consumer_offsets")
    for index in range(3):
        twins.each(lambda twin, at=index: twin.broker.move(offsets, -1, at))  # type: ignore[misc]
    assert twins.ask(request(offset(), version=8), 8) == [(0, ErrorCode.NOT_COORDINATOR)]
    # The first was taken, and lost with the leadership before it was written.
    assert twins.taken == 1
    assert waiting[0].frame == waiting[1].frame
    response = waiting[0].response(ApiKey.OFFSET_COMMIT, 8)
    assert isinstance(response, OffsetCommitResponse)
    assert response.topics[0].partitions[0].error_code in (0, ErrorCode.NOT_COORDINATOR)


@pytest.mark.parametrize("version", VERSIONS)
def test_any_bytes_sound_alike(make_twins: Callable[..., Twins], version: int) -> None:
    """Frames that are cut short or changed anywhere: both close the connection, or both answer the same."""
    twins = make_twins()
    twins.ask(request(offset(), version=version), version)
    frame = bytes(frame_of(request(offset(1, committed_metadata="m"), offset(2), version=version), version))
    dice = random.Random(version)
    changed = [frame[:length] for length in range(10, len(frame))]
    # The length of the client id is the pipeline's to check.
    changed += [
        frame[:at] + bytes([dice.choice((0, 1, 2, 127, 128, 255))]) + frame[at + 1 :] for at in range(10, len(frame))
    ]
    changed += [frame + b"\0"]
    for odd in changed:
        short, long = twins.send(odd)
        twins.each(lambda twin: twin.broker.loop.run())
        assert short.frame == long.frame
        assert (short.connection.closed_with is None) == (long.connection.closed_with is None)
    assert twins.taken > 0
    twins.compare()
