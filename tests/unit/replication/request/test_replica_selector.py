import pytest

from ottla.protocol.errors import ErrorCode
from ottla.protocol.metadata_log.broker import BrokerEndpoint, RegisterBrokerRecord
from ottla.replication.request.fetch import READ_COMMITTED, ClientMetadata
from ottla.replication.request.replica_selector import LEADER_ONLY, RACK_AWARE
from ottla.replication.settings import ReplicationSettings
from tests.unit.replication.broker_under_test import Answers, BrokerUnderTest, Metadata, offsets, want
from tests.unit.replication.manual_loop import ManualLoop

RACKS = {1: "a", 2: "b", 3: "b", 4: "c"}


def led(selector: str | None = RACK_AWARE) -> tuple[BrokerUnderTest, Metadata]:
    """Broker 1 leads a partition of three records; 2, 3 and 4 follow, in racks of their own."""
    loop = ManualLoop()
    broker = BrokerUnderTest(loop, settings=ReplicationSettings(replica_selector_class=selector))
    metadata = Metadata(broker)
    for broker_id, rack in RACKS.items():
        endpoint = BrokerEndpoint(name="PLAINTEXT", host="127.0.0.1", port=9090 + broker_id, security_protocol=0)
        metadata.publish(
            RegisterBrokerRecord(
                broker_id=broker_id, broker_epoch=1, fenced=False, rack=rack, end_points=[endpoint], log_dirs=[]
            )
        )
    metadata.create("orders", [1, 2, 3, 4])
    loop.run()
    for _ in range(3):
        broker.produce()
    for broker_id, offset in ((2, 2), (3, 3), (4, 3)):
        follow(broker, broker_id, offset)
    return broker, metadata


def follow(broker: BrokerUnderTest, broker_id: int, offset: int) -> None:
    broker.fetch(want(offset=offset, log_start_offset=0), replica_id=broker_id, replica_epoch=1)


def consume(
    broker: BrokerUnderTest, rack: str, offset: int = 0, *, listener: str = "PLAINTEXT", **params: object
) -> Answers:  # type: ignore[type-arg]
    client = ClientMetadata(rack, "c", "127.0.0.1", listener)
    return broker.fetch(want(offset=offset), client=client, **params)  # type: ignore[arg-type]


def test_a_consumer_is_sent_to_the_furthest_replica_of_its_rack() -> None:
    broker, _ = led()
    [result] = consume(broker, "b", max_wait_ms=1000)
    assert (result.preferred_read_replica, result.error_code, offsets(result)) == (3, 0, [])
    assert (result.high_watermark, result.last_stable_offset, result.log_start_offset) == (2, 2, 0)


@pytest.mark.parametrize("rack", ["", "a", "nowhere"])
def test_others_read_from_the_leader(rack: str) -> None:
    broker, _ = led()
    [result] = consume(broker, rack)
    assert (result.preferred_read_replica, offsets(result)) == (-1, [0, 1])


@pytest.mark.parametrize("selector", [None, LEADER_ONLY, "com.example.MySelector"])
def test_without_the_selector_everybody_does(selector: str | None) -> None:
    broker, _ = led(selector)
    [result] = consume(broker, "b")
    assert (result.preferred_read_replica, offsets(result)) == (-1, [0, 1])


def test_a_replica_without_the_offset_is_of_no_use() -> None:
    broker, _ = led()
    assert consume(broker, "b", 3)[0].preferred_read_replica == 3
    broker.produce()
    assert consume(broker, "b", 4)[0].preferred_read_replica == -1
    assert consume(broker, "b", 99)[0].error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_replica_out_of_sync_or_fenced_is_of_no_use() -> None:
    broker, metadata = led()
    metadata.change("orders", isr=[1, 2, 4])
    assert consume(broker, "b")[0].preferred_read_replica == 2
    metadata.fence(2)
    assert consume(broker, "b")[0].preferred_read_replica == -1
    assert consume(broker, "c")[0].preferred_read_replica == 4


def test_a_replica_that_has_no_such_listener_is_of_no_use() -> None:
    broker, _ = led()
    assert consume(broker, "b", listener="INTERNAL")[0].preferred_read_replica == -1


def test_committed_readers_are_sent_too() -> None:
    broker, _ = led()
    assert consume(broker, "b", isolation_level=READ_COMMITTED)[0].preferred_read_replica == 3


def test_a_wrong_epoch_comes_first() -> None:
    broker, _ = led()
    client = ClientMetadata("b", "c", "127.0.0.1", "PLAINTEXT")
    [result] = broker.fetch(want(current_leader_epoch=5), client=client)  # type: ignore[arg-type]
    assert (result.error_code, result.preferred_read_replica) == (ErrorCode.UNKNOWN_LEADER_EPOCH, -1)


def test_followers_go_on_fetching_from_the_leader() -> None:
    broker, _ = led()
    [result] = broker.fetch(want(offset=2, log_start_offset=0), replica_id=2, replica_epoch=1)
    assert (result.preferred_read_replica, offsets(result)) == (-1, [2])
