"""Operations answer when their records are committed, see the newest state, and leave none of it when they fail."""

from typing import Any

import pytest

from ottla.coordinator.ports import TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.coordinator_result import DEFERRED, CoordinatorResult
from ottla.coordinator.runtime.shard import Shard, ShardStatus
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import (
    ApiError,
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    InvalidProducerEpochError,
    MessageTooLargeError,
    NotCoordinatorError,
    NotEnoughReplicasError,
    NotLeaderOrFollowerError,
    UnknownMemberIdError,
    UnknownServerError,
)
from tests.unit.coordinator.runtime.fake import Answers, MemoryLog, NumberMachine, Numbers, number_record, setting

PRODUCER = TransactionalProducer("tx", producer_id=7, producer_epoch=1)


def opened(log: MemoryLog | None = None) -> tuple[Shard[Numbers], MemoryLog]:
    log = log or MemoryLog()
    shard = Shard(0, NumberMachine(), log, Timers())
    log.load_into(shard)
    shard.committed(log.end_offset)
    return shard, log


def marker(*, committed: bool) -> TransactionMarker:
    return TransactionMarker(7, 1, coordinator_epoch=0, committed=committed)


def numbers(shard: Shard[Numbers]) -> dict[str, int]:
    return dict(shard.read(lambda state: state.by_name))


def test_operations_of_a_round_share_an_append_and_answer_when_it_is_committed() -> None:
    shard, log = opened()
    answers = Answers()
    shard.write(setting("a", 1), answers, 100)
    shard.write(setting("a", 2), answers, 101)
    assert log.batches == []
    shard.flush(101)
    (batch,) = log.batches
    assert len(batch.records) == 2
    assert answers.given == []
    assert numbers(shard) == {}
    shard.committed(2)
    assert answers.given == [None, 1]
    assert numbers(shard) == {"a": 2}


def test_a_commit_within_the_append_answers_within_the_flush() -> None:
    shard, log = opened()
    log.commits_at_once = shard
    answers = Answers()
    shard.write(setting("a", 1), answers, 0)
    shard.flush(0)
    assert answers.given == [None]


def test_what_is_not_committed_is_answered_batch_by_batch() -> None:
    shard, _ = opened()
    answers = Answers()
    for number in (1, 2, 3):
        shard.write(setting("a", number), answers, 0)
        shard.flush(0)
    shard.committed(2)
    assert answers.given == [None, 1]
    assert numbers(shard) == {"a": 2}
    assert shard.state.by_name["a"] == 3


def test_an_operation_without_records_waits_for_what_it_has_read() -> None:
    shard, _ = opened()
    answers = Answers()
    look = lambda state, _: CoordinatorResult((), state.by_name.get("a"))  # noqa: E731
    shard.write(look, answers, 0)
    assert answers.given == [None]
    shard.write(setting("a", 1), Answers(), 0)
    shard.write(look, answers, 0)
    shard.flush(0)
    shard.write(look, answers, 0)
    assert answers.given == [None]
    shard.committed(1)
    assert answers.given == [None, 1, 1]


def test_a_refusal_is_answered_at_once_and_changes_nothing() -> None:
    shard, log = opened()

    def refuse(state: Numbers, now_ms: int) -> CoordinatorResult:
        raise UnknownMemberIdError

    answers = Answers()
    shard.write(refuse, answers, 0)
    shard.flush(0)
    assert isinstance(answers.only, UnknownMemberIdError)
    assert log.batches == []


@pytest.mark.parametrize(
    ("failure", "answered"),
    [
        (NotLeaderOrFollowerError(), NotCoordinatorError),
        (NotEnoughReplicasError(), CoordinatorNotAvailableError),
        (MessageTooLargeError(), UnknownServerError),
    ],
)
def test_a_failed_append_rolls_back_and_the_clients_words_are_used(failure: ApiError, answered: type[ApiError]) -> None:
    shard, log = opened()
    shard.write(setting("a", 1), Answers(), 0)
    shard.flush(0)
    log.fail_with = failure
    answers, fates = Answers(), Answers()
    shard.write(setting("a", 2, settled=fates), answers, 0)
    shard.write(setting("b", 3), answers, 0)
    shard.flush(0)
    assert [type(answer) for answer in answers.given] == [answered, answered]
    assert isinstance(fates.only, answered)
    assert dict(shard.state.by_name) == {"a": 1}
    log.fail_with = None
    shard.write(setting("a", 4), answers, 0)
    shard.flush(0)
    shard.committed(2)
    assert answers.given[2] == 1
    assert numbers(shard) == {"a": 4}


def test_soft_state_hears_of_the_commit_before_the_client_does() -> None:
    shard, _ = opened()
    heard: list[str] = []
    operation = setting("a", 1, settled=lambda error: heard.append(f"settled {error}"))
    shard.write(operation, lambda answer: heard.append(f"answered {answer}"), 0)
    shard.flush(0)
    shard.committed(1)
    assert heard == ["settled None", "answered None"]


def test_a_deferred_response_is_not_given_by_the_shard() -> None:
    shard, log = opened()
    answers, fates = Answers(), Answers()
    operation = lambda *_: CoordinatorResult([number_record("a", 1)], DEFERRED, fates)  # noqa: E731
    shard.write(operation, answers, 0)
    shard.flush(0)
    shard.committed(1)
    log.fail_with = NotEnoughReplicasError()
    shard.write(operation, answers, 0)
    shard.flush(0)
    shard.write(lambda *_: CoordinatorResult((), DEFERRED, fates), answers, 0)
    assert answers.given == []
    assert [type(fate) for fate in fates.given] == [type(None), CoordinatorNotAvailableError, type(None)]


def test_a_callback_may_write_again() -> None:
    shard, _ = opened()
    answers = Answers()

    def again(_answer: object) -> None:
        shard.write(setting("a", 2), answers, 0)
        shard.flush(0)
        shard.committed(2)

    shard.write(setting("a", 1), again, 0)
    shard.flush(0)
    shard.committed(1)
    assert answers.given == [1]
    assert numbers(shard) == {"a": 2}


def test_a_full_batch_is_appended_before_an_atomic_outcome_that_does_not_fit() -> None:
    shard, log = opened(MemoryLog(batch_bytes_max=300))
    answers = Answers()
    three = lambda *_: CoordinatorResult([number_record(name, 1) for name in "abc"], "done")  # noqa: E731
    shard.write(three, answers, 0)
    shard.write(three, answers, 0)
    assert [len(batch.records) for batch in log.batches] == [3]
    shard.flush(0)
    assert [len(batch.records) for batch in log.batches] == [3, 3]
    shard.committed(6)
    assert answers.given == ["done", "done"]


def test_an_outcome_that_is_not_atomic_is_spread_over_batches() -> None:
    shard, log = opened(MemoryLog(batch_bytes_max=300))
    answers = Answers()
    records = [number_record(f"{index}", index) for index in range(10)]
    shard.write(lambda *_: CoordinatorResult(records, "done", is_atomic=False), answers, 0)
    shard.flush(0)
    assert len(log.batches) > 2
    shard.committed(9)
    assert answers.given == []
    shard.committed(10)
    assert answers.given == ["done"]
    assert len(numbers(shard)) == 10


def test_the_operation_that_found_its_ground_lost_fails_with_it() -> None:
    shard, log = opened(MemoryLog(batch_bytes_max=300))
    answers = Answers()
    three = lambda *_: CoordinatorResult([number_record(name, 1) for name in "abc"], "done")  # noqa: E731
    shard.write(three, answers, 0)
    log.fail_with = NotEnoughReplicasError()
    shard.write(three, answers, 0)
    assert [type(answer) for answer in answers.given] == [CoordinatorNotAvailableError] * 2
    assert dict(shard.state.by_name) == {}


def test_transactional_records_have_their_own_batch_and_count_after_the_marker() -> None:
    shard, log = opened()
    answers = Answers()
    shard.write(setting("plain", 1), answers, 0)
    shard.write_transactional(setting("a", 5), PRODUCER, answers, 0)
    assert [batch.producer for batch in log.batches] == [None, PRODUCER]
    shard.committed(2)
    assert answers.given == [None, None]
    assert numbers(shard) == {"plain": 1}
    shard.write_marker(marker(committed=True), answers, 0)
    assert numbers(shard) == {"plain": 1}
    shard.committed(3)
    assert answers.given == [None, None, None]
    assert numbers(shard) == {"plain": 1, "a": 5}


def test_an_abort_marker_drops_what_was_pending() -> None:
    shard, _ = opened()
    shard.write_transactional(setting("a", 5), PRODUCER, Answers(), 0)
    shard.write_marker(marker(committed=False), Answers(), 0)
    shard.committed(2)
    assert numbers(shard) == {}
    assert not shard.state.pending


def test_a_failed_transactional_append_and_marker_leave_the_state_alone() -> None:
    shard, log = opened()
    answers = Answers()
    log.fail_with = InvalidProducerEpochError()
    shard.write_transactional(setting("a", 5), PRODUCER, answers, 0)
    assert not shard.state.pending
    log.fail_with = None
    shard.write_transactional(setting("a", 5), PRODUCER, Answers(), 0)
    log.fail_with = NotLeaderOrFollowerError()
    shard.write_marker(marker(committed=True), answers, 0)
    assert [type(answer) for answer in answers.given] == [InvalidProducerEpochError, NotLeaderOrFollowerError]
    assert 7 in shard.state.pending


def test_an_answer_that_waits_too_long_is_given_up_but_its_records_stay() -> None:
    shard, _ = opened()
    answers, fates = Answers(), Answers()
    shard.write(setting("a", 1, settled=fates), answers, 1_000)
    shard.flush(1_000)
    assert shard.next_ms == 6_000
    shard.poll(5_999)
    assert answers.given == []
    shard.poll(6_000)
    assert isinstance(answers.only, CoordinatorNotAvailableError)
    assert fates.given == []
    shard.committed(1)
    assert len(answers.given) == 1
    assert fates.given == [None]
    assert numbers(shard) == {"a": 1}


def test_a_timer_runs_as_a_write_and_again_if_it_failed() -> None:
    shard, log = opened()
    shard.timers.set("expiry", 100, setting("a", 1))
    assert shard.next_ms == 100
    log.fail_with = NotEnoughReplicasError()
    shard.poll(100)
    shard.flush(100)
    assert shard.next_ms == 600
    log.fail_with = None
    shard.poll(600)
    shard.flush(600)
    shard.committed(1)
    assert numbers(shard) == {"a": 1}
    assert shard.next_ms is None


def test_while_it_loads_nothing_is_served() -> None:
    shard = Shard(0, NumberMachine(), MemoryLog(), Timers())
    answers = Answers()
    shard.write(setting("a", 1), answers, 0)
    shard.write_transactional(setting("a", 1), PRODUCER, answers, 0)
    shard.write_marker(marker(committed=True), answers, 0)
    assert [type(answer) for answer in answers.given] == [CoordinatorLoadInProgressError] * 3
    with pytest.raises(CoordinatorLoadInProgressError):
        numbers(shard)
    shard.finish_load(0, 0)
    assert numbers(shard) == {}


def test_a_new_shard_loads_what_the_old_one_wrote() -> None:
    shard, log = opened()
    for name, number in (("a", 1), ("b", 2), ("a", None)):
        shard.write(setting(name, number), Answers(), 0)
        shard.flush(0)
    shard.write_transactional(setting("c", 3), PRODUCER, Answers(), 0)
    shard.write_marker(marker(committed=True), Answers(), 0)
    shard.write_transactional(setting("d", 4), PRODUCER, Answers(), 0)
    loaded, _ = opened(log)
    assert loaded.state == shard.state
    assert numbers(loaded) == {"b": 2, "c": 3}
    assert isinstance(loaded.machine, NumberMachine)
    assert loaded.machine.loaded_at_ms == 0


def test_reads_wait_until_all_that_was_loaded_is_committed() -> None:
    shard, log = opened()
    for number in (1, 2):
        shard.write(setting("a", number), Answers(), 0)
        shard.flush(0)
    loaded = Shard(0, NumberMachine(), log, Timers())
    loaded.committed(1)
    log.load_into(loaded)
    answers = Answers()
    loaded.write(setting("a", 3), answers, 0)
    with pytest.raises(CoordinatorLoadInProgressError):
        numbers(loaded)
    loaded.committed(2)
    assert numbers(loaded) == {"a": 2}
    assert answers.given == []


def test_unloading_answers_all_that_waits() -> None:
    shard, _ = opened()
    answers, fates = Answers(), Answers()
    shard.write(setting("a", 1, settled=fates), answers, 0)
    shard.flush(0)
    shard.write(setting("a", 2, settled=fates), answers, 0)
    shard.timers.set("session", 5, setting("b", 1))
    shard.unload()
    assert [type(answer) for answer in answers.given + fates.given] == [NotCoordinatorError] * 4
    shard.write(setting("a", 3), answers, 0)
    assert isinstance(answers.given[-1], NotCoordinatorError)
    with pytest.raises(NotCoordinatorError):
        numbers(shard)
    shard.committed(1)
    shard.flush(0)
    shard.poll(10)
    shard.unload()
    assert isinstance(shard.machine, NumberMachine)
    assert (len(answers.given), shard.machine.unloads, shard.next_ms) == (3, 1, None)


def test_a_log_that_somebody_else_wrote_to_fails_the_shard() -> None:
    shard, log = opened()
    woken: list[Any] = []
    shard.woken = woken.append
    log.append([(b"strange", None)], None)
    answers = Answers()
    shard.write(setting("a", 1), answers, 0)
    shard.flush(0)
    assert isinstance(answers.only, NotCoordinatorError)
    assert (shard.status, shard.is_out_of_sync, woken) == (ShardStatus.FAILED, True, [shard, shard])
    shard.write_marker(marker(committed=True), answers, 0)
    assert isinstance(answers.given[-1], NotCoordinatorError)


def test_a_strange_log_under_a_marker_fails_marker_and_shard() -> None:
    shard, log = opened()
    answers = Answers()
    shard.write(setting("a", 1), answers, 0)
    log.append([(b"strange", None)], None)
    shard.write_marker(marker(committed=True), answers, 0)
    assert [type(answer) for answer in answers.given] == [NotCoordinatorError] * 2
    assert shard.status is ShardStatus.FAILED


def test_a_shard_is_woken_once_for_a_batch() -> None:
    shard, _ = opened()
    woken: list[Any] = []
    shard.woken = woken.append
    shard.write(setting("a", 1), Answers(), 0)
    shard.write(setting("b", 1), Answers(), 0)
    assert len(woken) == 1
    shard.flush(0)
    shard.write(setting("b", 1), Answers(), 0)
    assert len(woken) == 2
