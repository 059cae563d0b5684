"""What time does: transactions time out, ids expire."""

import pytest

from ottla.coordinator.txn.config import TxnConfig
from ottla.coordinator.txn.transactional_id_expiry import SLICE_IDS
from ottla.protocol.errors import CoordinatorLoadInProgressError, KafkaStorageError
from tests.unit.coordinator.txn.world import A0, ID, World

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


@pytest.mark.parametrize("transaction_version", [1, 2])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_transaction_that_is_open_for_too_long_is_aborted(transaction_version: int, restarts: bool) -> None:
    world = World(transaction_version=transaction_version)
    pid, epoch = world.producer()
    world.add((pid, epoch), A0)
    if restarts:
        world.restart()
    world.pass_ms(59_999)
    assert world.state == "Ongoing"
    world.pass_ms(2)
    assert world.state == "PrepareAbort"
    marker = world.brokers.sent[-1][1].marker
    assert (marker.producer_epoch, marker.committed) == (epoch + 1, False)
    world.write_markers()
    assert world.state == "CompleteAbort"
    assert world.add((pid, epoch), A0) == 90
    # The next epoch is two above the one that timed out.
    assert world.init().producer_epoch == epoch + 2


def test_each_transaction_has_its_own_time() -> None:
    world = World()
    pid, epoch = world.producer()
    world.add((pid, epoch), A0)
    world.pass_ms(50_000)
    world.end((pid, epoch))
    world.write_markers()
    world.add((pid, epoch + 1), A0)
    world.pass_ms(50_000)
    assert world.state == "Ongoing"
    world.pass_ms(10_001)
    assert world.state == "PrepareAbort"


def test_a_transaction_that_has_ended_does_not_time_out() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    world.end(producer)
    world.pass_ms(120_000)
    assert world.state == "PrepareCommit"


def test_an_abort_that_can_not_be_written_is_tried_again() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    world.log.fail_with = KafkaStorageError()
    world.pass_ms(70_000)
    assert world.state == "Ongoing"
    world.log.fail_with = None
    world.pass_ms(1_000)
    assert world.state == "PrepareAbort"


def test_a_time_out_with_exhausted_epochs_waits_for_a_producer_id() -> None:
    world = World()
    world.producer()
    producer = world.set_epoch(32_766)
    world.add(producer, A0)
    world.ids.error = CoordinatorLoadInProgressError()
    world.pass_ms(60_001)
    assert world.state == "Ongoing"
    world.ids.error = None
    world.pass_ms(1_000)
    assert world.state == "PrepareAbort"
    world.write_markers()
    assert (world.describe().producer_id, world.describe().producer_epoch) == (1_002, 0)


def test_an_unused_id_expires_with_a_tombstone() -> None:
    world = World()
    world.producer()
    world.pass_ms(6 * DAY_MS)
    assert world.state == "Empty"
    world.pass_ms(DAY_MS + HOUR_MS)
    assert world.describe().error_code == 105
    assert world.log.batches[-1].records[0][1] is None
    world.restart()
    assert world.describe().error_code == 105
    response = world.init()
    assert (response.producer_id, response.producer_epoch) == (1_002, 0)


def test_an_id_with_a_transaction_does_not_expire() -> None:
    world = World(config=TxnConfig(id_expiration_ms=1_000, id_expiration_interval_ms=1_000))
    producer = world.producer()
    world.add(producer, A0)
    world.pass_ms(5_000)
    assert world.state == "Ongoing"
    world.end(producer)
    world.pass_ms(10_000)
    assert world.state == "PrepareCommit"
    world.write_markers()
    world.pass_ms(900)
    assert world.state == "CompleteCommit"
    world.pass_ms(2_000)
    assert world.describe().error_code == 105


def test_many_ids_expire_some_at_a_time() -> None:
    world = World(config=TxnConfig(id_expiration_ms=1_000, id_expiration_interval_ms=10_000))
    count = SLICE_IDS + 500
    for number in range(count):
        world.init(transactional_id=f"id-{number}")
    state = world.coordinator.shards.get(0)
    world.time.ms += 20_000
    world.coordinator.poll(world.now)
    world.coordinator.shards.flush(world.now)
    assert 0 < len(state.state) < count
    world.init(transactional_id="id-late")
    world.pass_ms(1)
    assert list(state.state) == ["id-late"]


def test_time_goes_back_and_nothing_happens() -> None:
    world = World()
    producer = world.producer()
    world.add(producer, A0)
    world.time.ms = 0
    world.settle()
    assert world.state == "Ongoing"
    assert world.coordinator.shards.get(0).state[ID].start_ms == 1_000


def test_an_end_waits_for_slow_replicas_as_long_as_a_request_may() -> None:
    world = World(config=TxnConfig(write_timeout_ms=30_000))
    producer = world.producer()
    world.add(producer, A0)
    world.commits = False
    waiting, given_up = world.start_end(producer), 15
    world.pass_ms(29_999)
    assert not waiting.given
    world.pass_ms(2)
    assert waiting.only.error_code == given_up
