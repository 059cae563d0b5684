"""Replication that is throttled: who is held up, for how long, and who is not."""

import pytest

from ottla.base.rate import Rate
from ottla.replication.follower.throttle import ThrottleLimits
from ottla.storage.log_config import LogConfig
from ottla.storage.topic_partition import TopicPartition
from tests.unit.replication.broker_under_test import BrokerUnderTest, Metadata, directory_id
from tests.unit.replication.manual_loop import ManualLoop
from tests.unit.replication.memory_leader import Network

BATCHES = 40
BATCH_BYTES = 100_000
"""Ten or so go into one fetch, which takes a megabyte."""
LEADER = ThrottleLimits(leader_replication_throttled_rate=100_000)
FOLLOWER = ThrottleLimits(follower_replication_throttled_rate=100_000)


class Pair:
    """A leader with records, and a follower that has none of them yet."""

    def __init__(self, limits: ThrottleLimits, *, isr: list[int], replicas: tuple[str, ...] = ("*",)) -> None:
        self.loop = ManualLoop()
        self.network = Network(self.loop)
        config = LogConfig(
            leader_replication_throttled_replicas=replicas, follower_replication_throttled_replicas=replicas
        )
        for broker_id in (1, 2):
            endpoint_of = self.network.endpoint_of(broker_id)
            broker = BrokerUnderTest(self.loop, broker_id, endpoint_of=endpoint_of, config=config)
            broker.replicas.limit_throttles(limits)
            self.network.brokers[broker_id] = broker
        self.metadata = Metadata(*self.network.brokers.values())
        self.network.cut.add(2)
        for broker_id in (1, 2):
            self.metadata.register(broker_id)
        self.metadata.create("orders", [1, 2], isr=isr)
        self.loop.run()
        for _ in range(BATCHES):
            self.network.brokers[1].produce(size=BATCH_BYTES)
        self.network.cut.clear()

    @property
    def copied(self) -> int:
        """How many of the records the follower has."""
        return self.network.brokers[2].partition().log.log_end_offset

    def limit(self, limits: ThrottleLimits) -> None:
        for broker in self.network.brokers.values():
            broker.replicas.limit_throttles(limits)


@pytest.mark.parametrize("limits", [LEADER, FOLLOWER])
def test_new_replica_gets_no_more_than_the_limit(limits: ThrottleLimits) -> None:
    pair = Pair(limits, isr=[1])
    for second in range(1, 60):
        pair.loop.advance(1_000)
        # What was fetched before the limit was exceeded is more than it allows, and waited for.
        assert pair.copied <= second + 11
    assert pair.copied == BATCHES


@pytest.mark.parametrize("limits", [LEADER, FOLLOWER])
def test_limit_that_is_lifted_holds_up_no_more(limits: ThrottleLimits) -> None:
    pair = Pair(limits, isr=[1])
    pair.loop.advance(3_000)
    assert 0 < pair.copied < BATCHES
    pair.limit(ThrottleLimits())
    pair.loop.advance(1_000)
    assert pair.copied == BATCHES


def test_limit_of_nothing_stops_after_the_first_fetch() -> None:
    pair = Pair(ThrottleLimits(leader_replication_throttled_rate=0), isr=[1])
    pair.loop.advance(5_000)
    copied = pair.copied
    assert 0 < copied < BATCHES
    pair.loop.advance(5_000)
    assert pair.copied == copied


def test_replica_in_sync_is_not_held_up_by_its_leader() -> None:
    pair = Pair(LEADER, isr=[1, 2])
    pair.loop.advance(2_500)
    assert pair.copied == BATCHES


@pytest.mark.parametrize("limits", [LEADER, FOLLOWER])
@pytest.mark.parametrize("replicas", [(), ("0:3", "1:1", "1:2")])
def test_replicas_that_are_not_named_are_not_held_up(limits: ThrottleLimits, replicas: tuple[str, ...]) -> None:
    pair = Pair(limits, isr=[1], replicas=replicas)
    pair.loop.advance(2_500)
    assert pair.copied == BATCHES


@pytest.mark.parametrize(("limits", "replica"), [(LEADER, "0:1"), (FOLLOWER, "0:2")])
def test_replicas_are_named_by_partition_and_broker(limits: ThrottleLimits, replica: str) -> None:
    pair = Pair(limits, isr=[1], replicas=(replica, ""))
    pair.loop.advance(2_500)
    assert pair.copied < BATCHES


@pytest.mark.parametrize("limits", [LEADER, FOLLOWER])
def test_who_is_held_up_asks_seldom(limits: ThrottleLimits) -> None:
    pair = Pair(limits, isr=[1])
    pair.loop.advance(2_000)
    before = pair.network.fetches
    for _ in range(50):
        pair.network.brokers[1].produce(size=10)
        pair.loop.advance(10)
    # Each waits for as long as one without records does, whatever is written meanwhile.
    assert pair.network.fetches - before <= 500 / pair.network.wait_max_ms + 1


@pytest.mark.parametrize("limits", [LEADER, FOLLOWER])
def test_others_are_fetched_while_one_is_held_up(limits: ThrottleLimits) -> None:
    pair = Pair(limits, isr=[1], replicas=("0:1", "0:2"))
    pair.loop.advance(2_000)
    pair.metadata.create("bills", [2, 1], [1, 2])
    pair.loop.run()
    pair.network.brokers[1].produce("bills", 1, count=7)
    pair.loop.advance(1_000)
    assert pair.network.brokers[2].partition("bills", 1).log.log_end_offset == 7
    assert pair.copied < BATCHES


def test_move_between_directories_keeps_to_its_limit() -> None:
    loop = ManualLoop()
    broker = BrokerUnderTest(loop, directories=("/data", "/other"))
    metadata = Metadata(broker)
    metadata.register(1)
    metadata.create("orders", [1], directories=[directory_id(1)])
    loop.run()
    for _ in range(150):
        broker.produce(size=BATCH_BYTES)
    broker.replicas.limit_throttles(ThrottleLimits(replica_alter_log_dirs_io_max_bytes_per_second=1_000_000))
    name = TopicPartition("orders", 0)
    codes: list[int] = []
    broker.replicas.alter_log_dir(name, "/other", codes.append)
    loop.advance(8_000)
    assert codes == [0]
    log = broker.logs.get(name)
    assert log is not None
    assert log.directory.startswith("/data/")
    loop.advance(12_000)
    log = broker.logs.get(name)
    assert log is not None
    assert log.directory.startswith("/other/")
    assert log.log_end_offset == 150


def test_rate_forgets_what_is_long_ago() -> None:
    rate = Rate(samples=3, sample_ms=1_000)
    for second in range(10):
        rate.record(500, second * 1_000)
        rate.record(500, second * 1_000 + 900)
    assert rate.per_second(9_900) == 3_000 * 1_000 / 2_900
    assert rate.per_second(11_999) == 1_000 * 1_000 / 2_999
    assert rate.per_second(12_000) == 0
