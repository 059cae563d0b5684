"""The states of an instance: every transition of the table, and no other."""

import itertools

import pytest

from ottla.streams.host.run_state import FOLLOWS, IllegalStateError, RunState, check_follows


@pytest.mark.parametrize(("before", "after"), list(itertools.product(RunState, RunState)))
def test_the_table_decides(before: RunState, after: RunState) -> None:
    if after in FOLLOWS[before]:
        check_follows(before, after)
    else:
        with pytest.raises(IllegalStateError, match=f"{before.value} cannot become {after.value}"):
            check_follows(before, after)


def test_every_state_can_be_reached_and_all_but_the_end_can_be_left() -> None:
    assert {state for following in FOLLOWS.values() for state in following} | {RunState.CREATED} == set(RunState)
    assert [state for state, following in FOLLOWS.items() if not following] == [RunState.NOT_RUNNING]
