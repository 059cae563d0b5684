"""The transition table, walked: every pair of states is either in this list or refused."""

from itertools import product

import pytest

from ottla.coordinator.txn.state import STATE_BY_LABEL, TransactionState, may_follow
from ottla.coordinator.txn.transaction_metadata import TransactionMetadata
from ottla.coordinator.txn.transition import (
    IllegalTransitionError,
    added,
    completed,
    created,
    ended,
    fenced,
    initialized,
)
from tests.unit.coordinator.txn.world import A0

ALLOWED = """
Empty > Empty Ongoing PrepareAbort Dead
Ongoing > Ongoing PrepareCommit PrepareAbort PrepareEpochFence
PrepareCommit > CompleteCommit
PrepareAbort > CompleteAbort
CompleteCommit > Empty Ongoing PrepareAbort Dead
CompleteAbort > Empty Ongoing PrepareAbort Dead
Dead >
PrepareEpochFence > PrepareAbort
"""
PAIRS = {
    (STATE_BY_LABEL[before.strip()], STATE_BY_LABEL[after])
    for before, _, afters in (line.partition(">") for line in ALLOWED.strip().splitlines())
    for after in afters.split()
}


@pytest.mark.parametrize(("before", "after"), list(product(TransactionState, TransactionState)))
def test_each_pair_of_states(before: TransactionState, after: TransactionState) -> None:
    assert may_follow(before, after) is ((before, after) in PAIRS)


def test_states_have_kafkas_names_and_numbers() -> None:
    assert [(state.value, state.label) for state in TransactionState] == [
        (0, "Empty"),
        (1, "Ongoing"),
        (2, "PrepareCommit"),
        (3, "PrepareAbort"),
        (4, "CompleteCommit"),
        (5, "CompleteAbort"),
        (6, "Dead"),
        (7, "PrepareEpochFence"),
    ]


STEPS = {
    "initialized": (TransactionState.EMPTY, lambda before: initialized(before, 7, 1, 1_000, 5)),
    "added": (TransactionState.ONGOING, lambda before: added(before, frozenset({A0}), 2, 5)),
    "committed": (
        TransactionState.PREPARE_COMMIT,
        lambda before: ended(before, TransactionState.PREPARE_COMMIT, 2, -1, 5).metadata,
    ),
    "aborted": (
        TransactionState.PREPARE_ABORT,
        lambda before: ended(before, TransactionState.PREPARE_ABORT, 2, -1, 5).metadata,
    ),
    "fenced": (TransactionState.PREPARE_ABORT, lambda before: fenced(before, 2, -1, 5).metadata),
}


def _in(state: TransactionState) -> TransactionMetadata:
    return created(7, 1_000, 0)._replace(producer_epoch=0, state=state, start_ms=0)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("before", list(TransactionState))
def test_each_step_obeys_the_table(name: str, before: TransactionState) -> None:
    target, step = STEPS[name]
    if (before, target) in PAIRS:
        assert step(_in(before)).state is target
    else:
        with pytest.raises(IllegalTransitionError):
            step(_in(before))


@pytest.mark.parametrize("before", list(TransactionState))
def test_only_what_is_prepared_completes(before: TransactionState) -> None:
    expected = {
        TransactionState.PREPARE_COMMIT: TransactionState.COMPLETE_COMMIT,
        TransactionState.PREPARE_ABORT: TransactionState.COMPLETE_ABORT,
    }.get(before)
    if expected is None:
        with pytest.raises(IllegalTransitionError):
            completed(_in(before), 9)
    else:
        assert completed(_in(before), 9).state is expected
