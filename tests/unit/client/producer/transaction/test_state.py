"""The table of transitions: complete, and without a way out of a fatal error."""

from collections import deque

from ottla.client.producer.transaction.state import TRANSITIONS, TransactionState

S = TransactionState


def reachable(start: TransactionState) -> set[TransactionState]:
    seen, waiting = {start}, deque([start])
    while waiting:
        for state in TRANSITIONS[waiting.popleft()] - seen:
            seen.add(state)
            waiting.append(state)
    return seen


def test_every_state_is_in_the_table_and_can_be_reached() -> None:
    assert set(TRANSITIONS) == set(S)
    assert reachable(S.UNINITIALIZED) == set(S)


def test_fatal_is_final_and_possible_everywhere() -> None:
    assert reachable(S.FATAL_ERROR) == {S.FATAL_ERROR}
    assert all(S.FATAL_ERROR in following for following in TRANSITIONS.values())


def test_failed_transaction_can_only_be_aborted() -> None:
    assert TRANSITIONS[S.ABORTABLE_ERROR] == {S.ABORTING, S.ABORTABLE_ERROR, S.FATAL_ERROR}
    assert all(S.COMMITTING not in TRANSITIONS[state] for state in S if state is not S.IN_TRANSACTION)


def test_everything_but_a_fatal_error_leads_back_to_the_next_transaction() -> None:
    for state in S:
        assert (S.IN_TRANSACTION in reachable(state)) == (state is not S.FATAL_ERROR)
