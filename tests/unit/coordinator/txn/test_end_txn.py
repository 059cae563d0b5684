"""EndTxn: transactions v1 and v2, retries, fencing, exhausted epochs."""

import pytest

from ottla.protocol.errors import KafkaStorageError
from tests.unit.coordinator.runtime.fake import Answers
from tests.unit.coordinator.txn.world import A0, A1, World


def _open(world: World, version: int = 3) -> tuple[int, int]:
    producer = world.producer()
    assert world.add(producer, A0, version=version) == 0
    return producer


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(("version", "raise_by"), [(1, 0), (4, 0), (5, 1)])
def test_an_end_is_answered_before_the_markers_are_written(version: int, raise_by: int, committed: bool) -> None:
    world = World()
    pid, epoch = _open(world)
    response = world.end((pid, epoch), committed=committed, version=version)
    expected = (pid, epoch + 1) if version == 5 else (-1, -1)
    assert (response.error_code, response.producer_id, response.producer_epoch) == (0, *expected)
    assert world.state == ("PrepareCommit" if committed else "PrepareAbort")
    (request,) = world.brokers.requests
    marker = request.markers[0].marker
    assert (marker.producer_id, marker.producer_epoch, marker.committed) == (pid, epoch + raise_by, committed)
    assert marker.transaction_version == (2 if version == 5 else 0)
    world.write_markers()
    assert world.state == ("CompleteCommit" if committed else "CompleteAbort")
    assert world.describe().topics == []


@pytest.mark.parametrize("version", [4, 5])
def test_a_retry_waits_for_the_markers_and_then_succeeds(version: int) -> None:
    world = World()
    pid, epoch = _open(world)
    first = world.end((pid, epoch), version=version)
    assert world.end((pid, epoch), version=version).error_code == 51
    world.write_markers()
    again = world.end((pid, epoch), version=version)
    assert again == first
    assert again.error_code == 0
    assert len(world.brokers.sent) == 1


@pytest.mark.parametrize("version", [4, 5])
def test_the_outcome_can_not_change(version: int) -> None:
    world = World()
    producer = _open(world)
    world.end(producer, version=version)
    assert world.end(producer, committed=False, version=version).error_code == 51
    world.write_markers()
    assert world.end(producer, committed=False, version=version).error_code == 48
    assert world.state == "CompleteCommit"


def test_v2_an_abort_of_nothing_waits_for_the_markers_of_the_commit_before_it() -> None:
    world = World()
    pid, epoch = _open(world)
    world.end((pid, epoch))
    assert world.end((pid, epoch + 1), committed=False).error_code == 51
    world.write_markers()
    response = world.end((pid, epoch + 1), committed=False)
    assert (response.error_code, response.producer_epoch) == (0, epoch + 2)


@pytest.mark.parametrize(("raise_by", "foreign"), [(0, 0), (1, 0), (2, 0), (1, 1_000)])
def test_while_markers_are_written_everybody_is_to_come_again(raise_by: int, foreign: int) -> None:
    world = World()
    pid, epoch = _open(world)
    world.end((pid, epoch))
    producer = (pid + foreign, epoch + raise_by)
    assert world.end(producer, committed=False).error_code == 51
    assert world.end(producer).error_code == 51
    assert [world.add(producer, A1, version=version) for version in (3, 5)] == [51, 51]
    assert world.add_offsets(producer, version=4) == 51
    assert world.state == "PrepareCommit"


@pytest.mark.parametrize(("raise_by", "foreign", "code"), [(0, 0, 90), (1, 0, 51), (2, 0, 90), (1, 1_000, 49)])
def test_v1_only_who_owns_it_is_to_come_again(raise_by: int, foreign: int, code: int) -> None:
    world = World()
    pid, epoch = _open(world)
    world.end((pid, epoch))
    for committed in (True, False):
        producer = (pid + foreign, epoch + raise_by)
        assert world.end(producer, committed=committed, version=4).error_code == code


def test_v2_after_a_commit_the_newest_epoch_means_the_next_transaction() -> None:
    world = World()
    pid, epoch = _open(world)
    world.end((pid, epoch))
    world.write_markers()
    assert world.end((pid, epoch + 1)).error_code == 48
    assert world.state == "CompleteCommit"


@pytest.mark.parametrize("restarts", [False, True])
def test_v2_an_empty_abort_raises_the_epoch_and_an_empty_commit_is_refused(restarts: bool) -> None:
    world = World()
    pid, epoch = world.producer()
    assert world.end((pid, epoch)).error_code == 48
    assert world.state == "Empty"
    response = world.end((pid, epoch), committed=False)
    assert (response.error_code, response.producer_epoch) == (0, epoch + 1)
    if restarts:
        world.restart()
    assert world.state == "CompleteAbort"
    assert world.brokers.sent == []
    again = world.end((pid, epoch), committed=False)
    assert (again.error_code, again.producer_epoch) == (0, epoch + 1)
    second = world.end((pid, epoch + 1), committed=False)
    assert (second.error_code, second.producer_epoch) == (0, epoch + 2)


@pytest.mark.parametrize("committed", [True, False])
def test_v1_an_empty_end_is_refused(committed: bool) -> None:
    world = World()
    producer = world.producer()
    assert world.end(producer, committed=committed, version=4).error_code == 48


@pytest.mark.parametrize(("version", "code"), [(0, 47), (1, 47), (2, 90), (4, 90), (5, 90)])
def test_a_zombie_ends_nothing(version: int, code: int) -> None:
    world = World()
    zombie = world.producer()
    newest = _open(world)
    before = len(world.log.batches)
    assert world.end(zombie, version=version).error_code == code
    assert world.end((newest[0], newest[1] + 1), version=version).error_code == code
    assert (len(world.log.batches), world.state) == (before, "Ongoing")


def test_unknown_ids_and_foreign_producers() -> None:
    world = World()
    assert world.end((5, 0)).error_code == 49
    assert world.end((5, 0), version=3).error_code == 49
    pid, epoch = _open(world)
    assert world.end((pid + 1, epoch)).error_code == 49


def test_v2_a_producer_fenced_by_a_time_out_learns_its_fate() -> None:
    world = World()
    pid, epoch = _open(world)
    world.pass_ms(60_001)
    world.write_markers()
    assert world.end((pid, epoch)).error_code == 48
    # It aborts instead, which has happened already: it may go on with the epoch after.
    response = world.end((pid, epoch), committed=False)
    assert (response.error_code, response.producer_epoch) == (0, epoch + 1)


def test_v2_exhausted_epochs_give_a_new_id_with_the_answer() -> None:
    world = World()
    world.producer()
    pid, epoch = world.set_epoch(32_766)
    world.add((pid, epoch), A0)
    response = world.end((pid, epoch))
    assert (response.error_code, response.producer_id, response.producer_epoch) == (0, 1_002, 0)
    marker = world.brokers.sent[-1][1].marker
    assert (marker.producer_id, marker.producer_epoch) == (pid, 32_767)
    assert world.add((1_002, 0), A0) == 51
    world.write_markers()
    assert (world.describe().producer_id, world.describe().producer_epoch) == (1_002, 0)
    # The answer was lost: a retry with the old id gets it again.
    assert world.end((pid, epoch)) == response
    assert world.add((1_002, 0), A0, version=5) == 0
    assert world.add((pid, epoch), A0) == 49


def test_v2_exhausted_epochs_survive_a_restart_before_the_markers() -> None:
    world = World()
    world.producer()
    producer = world.set_epoch(32_766)
    world.add(producer, A0)
    response = world.end(producer)
    world.restart()
    world.write_markers()
    assert world.describe().producer_id == response.producer_id == 1_002
    assert world.end(producer).producer_id == 1_002


def test_a_log_without_room_for_v2_serves_v1() -> None:
    world = World(transaction_version=0)
    pid, epoch = _open(world)
    response = world.end((pid, epoch), version=5)
    assert (response.error_code, response.producer_epoch) == (0, epoch)
    world.write_markers()
    assert world.state == "CompleteCommit"


def test_nothing_is_answered_or_sent_before_the_outcome_is_committed() -> None:
    world = World()
    producer = _open(world)
    world.commits = False
    answers = world.start_end(producer)
    assert answers.given == []
    assert world.brokers.sent == []
    world.commit()
    assert answers.only.error_code == 0
    assert len(world.brokers.sent) == 1


def test_an_outcome_that_can_not_be_written_is_open_again() -> None:
    world = World()
    producer = _open(world)
    world.log.fail_with = KafkaStorageError()
    assert world.end(producer).error_code == 16
    world.log.fail_with = None
    assert (world.state, world.brokers.sent) == ("Ongoing", [])
    assert world.end(producer, committed=False).error_code == 0


def test_a_producer_may_go_on_with_its_old_epoch_when_it_missed_the_answer_of_a_v2_end() -> None:
    world = World()
    pid, epoch = _open(world)
    world.end((pid, epoch))
    world.write_markers()
    response = world.init(expected=(pid, epoch))
    assert (response.error_code, response.producer_epoch) == (0, epoch + 1)


def test_a_v1_end_keeps_the_retry_of_an_init_possible() -> None:
    world = World()
    pid, epoch = world.producer()
    world.init(expected=(pid, epoch))
    world.add((pid, epoch + 1), A0, A1)
    world.end((pid, epoch + 1), version=4)
    world.write_markers()
    response = world.init(expected=(pid, epoch))
    assert (response.error_code, response.producer_epoch) == (0, epoch + 1)


def test_another_brokers_id_is_refused() -> None:
    world = World()
    producer = _open(world)
    world.coordinator.shards.resigned(0, 1)
    assert world.end(producer).error_code == 16
    answers: Answers = world.start_end(producer)
    assert answers.only.error_code == 16
