"""The states of a transactional id, and which may follow which.

`PREVIOUS_STATES` is the whole state machine; every change of state goes through `may_follow`. DEAD stands for an id
that was forgotten and PREPARE_EPOCH_FENCE for the step in which the coordinator itself ends a transaction: both have
names, since clients filter by them, and neither is ever written.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """The state of a transactional id; the numbers are those in the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """The name that ListTransactions and DescribeTransactions use.

        >>> TransactionState.PREPARE_COMMIT.label
        'PrepareCommit'
        """
        return "".join(word.capitalize() for word in self.name.split("_"))


_EMPTY, _ONGOING = TransactionState.EMPTY, TransactionState.ONGOING
_PREPARE_COMMIT, _PREPARE_ABORT = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT
_COMPLETE_COMMIT, _COMPLETE_ABORT = TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT
_DEAD, _PREPARE_EPOCH_FENCE = TransactionState.DEAD, TransactionState.PREPARE_EPOCH_FENCE

IDLE: Final = frozenset({_EMPTY, _COMPLETE_COMMIT, _COMPLETE_ABORT})
"""No transaction is open: the id may expire, and a new producer may take it over at once."""
ENDING: Final = frozenset({_PREPARE_COMMIT, _PREPARE_ABORT})
"""The outcome is decided, and markers are on their way."""

PREVIOUS_STATES: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    _EMPTY: IDLE,
    _ONGOING: IDLE | {_ONGOING},
    _PREPARE_COMMIT: frozenset({_ONGOING}),
    # With transactions v2 a producer may abort what it never began: the first write may have failed half-way.
    _PREPARE_ABORT: IDLE | {_ONGOING, _PREPARE_EPOCH_FENCE},
    _COMPLETE_COMMIT: frozenset({_PREPARE_COMMIT}),
    _COMPLETE_ABORT: frozenset({_PREPARE_ABORT}),
    _DEAD: IDLE,
    _PREPARE_EPOCH_FENCE: frozenset({_ONGOING}),
}
"""For each state, those that it may follow."""

STATE_BY_LABEL: Final[Mapping[str, TransactionState]] = {state.label: state for state in TransactionState}


def may_follow(before: TransactionState, after: TransactionState) -> bool:
    """Whether `after` may come right after `before`.

    >>> may_follow(TransactionState.ONGOING, TransactionState.COMPLETE_COMMIT)
    False
    """
    return before in PREVIOUS_STATES[after]
