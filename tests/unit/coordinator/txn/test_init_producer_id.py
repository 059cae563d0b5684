"""InitProducerId: ids, epochs, fencing, retries, exhaustion, over an open transaction."""

import pytest

from ottla.coordinator.txn.config import TxnConfig
from ottla.protocol.errors import CoordinatorLoadInProgressError, KafkaStorageError
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from tests.unit.coordinator.runtime.fake import Answers
from tests.unit.coordinator.txn.world import A0, ID, World


def _pair(response: InitProducerIdResponse) -> tuple[int, int, int]:
    return response.error_code, response.producer_id, response.producer_epoch


def test_a_new_id_starts_at_epoch_0_and_each_init_raises_it() -> None:
    world = World()
    assert _pair(world.init()) == (0, 1_001, 0)
    assert _pair(world.init()) == (0, 1_001, 1)
    assert world.state == "Empty"


def test_without_transactional_id_each_call_gives_a_new_producer_id() -> None:
    world = World()
    assert _pair(world.init(transactional_id=None)) == (0, 1_001, 0)
    assert _pair(world.init(transactional_id=None)) == (0, 1_002, 0)
    assert not world.log.batches


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"transactional_id": ""}, 42),
        ({"timeout_ms": 900_001}, 50),
        ({"timeout_ms": 0}, 50),
        ({"timeout_ms": -1}, 50),
        ({"expected": (5, -1)}, 42),
        ({"expected": (-1, 5)}, 42),
        ({"version": 6, "enable2_pc": True}, 53),
        ({"version": 6, "keep_prepared_txn": True}, 35),
    ],
)
def test_bad_requests_change_nothing(fields: dict[str, object], code: int) -> None:
    world = World()
    assert _pair(world.init(**fields)) == (code, -1, -1)  # type: ignore[arg-type]
    assert not world.log.batches


def test_two_phase_commit_has_no_time_out() -> None:
    world = World(config=TxnConfig(is_two_phase_commit_enabled=True))
    response = world.init(version=6, enable2_pc=True, timeout_ms=5)
    assert world.add((response.producer_id, response.producer_epoch), A0) == 0
    assert world.describe().transaction_timeout_ms == 2_147_483_647
    world.pass_ms(2_147_483_648)
    assert world.state == "Ongoing"


def test_a_producer_that_goes_on_with_what_it_has_gets_the_next_epoch() -> None:
    world = World()
    producer = world.producer()
    assert _pair(world.init(expected=producer)) == (0, producer[0], 1)
    # It missed the answer and asks again: the same answer.
    assert _pair(world.init(expected=producer)) == (0, producer[0], 1)


@pytest.mark.parametrize(("version", "code"), [(3, 47), (4, 90), (5, 90)])
def test_a_zombie_is_fenced_in_the_words_of_its_version(version: int, code: int) -> None:
    world = World()
    zombie = world.producer()
    newest = world.producer()
    before = len(world.log.batches)
    assert _pair(world.init(expected=zombie, version=version)) == (code, -1, -1)
    assert _pair(world.init(expected=(zombie[0] + 77, 0), version=version)) == (code, -1, -1)
    assert len(world.log.batches) == before
    assert world.describe().producer_epoch == newest[1]


def test_a_retry_after_a_change_of_coordinator_is_fenced_as_in_kafka() -> None:
    world = World()
    producer = world.producer()
    world.init(expected=producer)
    world.restart()
    assert world.init(expected=producer).error_code == 90


def test_an_unknown_id_with_an_expected_producer_gets_a_new_one() -> None:
    assert _pair(World().init(expected=(5, 5))) == (0, 1_001, 0)


@pytest.mark.parametrize("transaction_version", [0, 1, 2])
def test_over_an_open_transaction_answers_51_then_epoch_plus_2(transaction_version: int) -> None:
    world = World(transaction_version=transaction_version)
    pid, epoch = world.producer()
    assert world.add((pid, epoch), A0) == 0
    assert _pair(world.init()) == (51, -1, -1)
    assert world.state == "PrepareAbort"
    assert world.init().error_code == 51
    (request,) = world.brokers.requests
    marker = request.markers[0].marker
    assert (marker.producer_epoch, marker.committed) == (epoch + 1, False)
    assert marker.transaction_version == (2 if transaction_version == 2 else 0)
    world.write_markers()
    assert world.state == "CompleteAbort"
    assert _pair(world.init()) == (0, pid, epoch + 2)


def test_a_zombie_does_not_abort_its_successors_transaction() -> None:
    world = World()
    zombie = world.producer()
    newest = world.producer()
    world.add(newest, A0)
    assert world.init(expected=zombie).error_code == 90
    assert world.state == "Ongoing"
    assert world.init(expected=newest).error_code == 51
    assert world.state == "PrepareAbort"


def test_exhausted_epochs_give_a_new_producer_id() -> None:
    world = World()
    world.producer()
    pid, epoch = world.set_epoch(32_766)
    assert _pair(world.init(expected=(pid, epoch))) == (0, 1_002, 0)
    # The answer was lost: the old id with its last epoch is a retry.
    assert _pair(world.init(expected=(pid, epoch))) == (0, 1_002, 0)
    assert world.init(expected=(pid, 7)).error_code == 90


def test_exhausted_epochs_without_expectation_give_a_new_producer_id() -> None:
    world = World()
    world.producer()
    world.set_epoch(32_766)
    assert _pair(world.init()) == (0, 1_002, 0)


@pytest.mark.parametrize(("transaction_version", "ids"), [(1, (1_001, 1_002)), (2, (1_002, 1_002))])
def test_exhausted_epochs_over_an_open_transaction(transaction_version: int, ids: tuple[int, int]) -> None:
    world = World(transaction_version=transaction_version)
    world.producer()
    producer = world.set_epoch(32_766)
    assert world.add(producer, A0) == 0
    assert world.init().error_code == 51
    assert world.brokers.sent[-1][1].marker.producer_epoch == 32_767
    world.write_markers()
    assert world.describe().producer_id == ids[0]
    response = world.init()
    assert (response.error_code, response.producer_id) == (0, ids[1])


def test_producer_ids_that_take_a_while_or_are_refused() -> None:
    world = World()
    world.ids.waits = True
    answers = Answers()
    request = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=1_000)
    world.coordinator.init_producer_id(request, 4, world.now, answers)
    assert not answers.given
    world.ids.release()
    world.settle()
    assert _pair(answers.only) == (0, 1_001, 0)
    world.ids.error = CoordinatorLoadInProgressError()
    assert _pair(world.init(transactional_id=None)) == (14, -1, -1)


def test_a_failed_append_changes_nothing() -> None:
    world = World()
    world.log.fail_with = KafkaStorageError()
    assert world.init().error_code == 16
    world.log.fail_with = None
    assert world.describe().error_code == 105
    assert world.init().producer_epoch == 0


def test_nobody_is_fenced_by_an_epoch_that_is_not_committed() -> None:
    world = World()
    producer = world.producer()
    world.commits = False
    first, zombie = Answers(), Answers()
    request = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=1_000)
    world.coordinator.init_producer_id(request, 4, world.now, first)
    old = InitProducerIdRequest(
        transactional_id=ID, transaction_timeout_ms=1_000, producer_id=producer[0], producer_epoch=producer[1]
    )
    world.coordinator.init_producer_id(old, 4, world.now, zombie)
    world.settle()
    assert not first.given
    assert not zombie.given
    world.commit()
    assert (first.only.error_code, zombie.only.error_code) == (0, 90)


def test_another_brokers_id_is_refused() -> None:
    world = World()
    world.coordinator.shards.resigned(0, 1)
    assert world.init().error_code == 16
    assert world.describe().error_code == 16
