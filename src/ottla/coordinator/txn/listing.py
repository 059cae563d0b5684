"""The answers of ListTransactions and DescribeTransactions (KIP-664).

The pattern for transactional ids (KIP-1152) is an expression of RE2, as in Kafka. It comes from a client and is matched
on the loop's thread, with as many ids as there are; so a whole listing has a bound, and a pattern that would exceed it
is refused.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from ottla.base.frozen import frozen
from ottla.base.regex.linear_regex import LinearRegex
from ottla.base.regex.syntax import RegexError
from ottla.coordinator.txn.state import STATE_BY_LABEL, TransactionState
from ottla.coordinator.txn.transaction_metadata import TransactionMetadata
from ottla.coordinator.txn.txn_machine import TxnState
from ottla.protocol.errors import ErrorCode, InvalidRegularExpressionError
from ottla.protocol.messages import describe_transactions, list_transactions
from ottla.protocol.messages.list_transactions import ListTransactionsRequest

_PATTERN_WORK_MAX: Final = 300_000
"""Places of the expression that may be visited, in about 0.1 s. Ordinary patterns take dozens, however many ids."""


@frozen
class ListFilter:
    """Which ids a request wants to see; what is empty or None lets all pass."""

    states: frozenset[TransactionState] | None
    producer_ids: frozenset[int]
    open_for_ms: int
    """Only those whose transaction began more than so long ago; negative for all."""
    id_pattern: Callable[[str], bool] | None

    def matches(self, transactional_id: str, metadata: TransactionMetadata, now_ms: int) -> bool:
        """Whether to show this one."""
        if self.states is not None and metadata.state not in self.states:
            return False
        if self.producer_ids and metadata.producer_id not in self.producer_ids:
            return False
        if self.open_for_ms >= 0 and now_ms - metadata.start_ms <= self.open_for_ms:
            return False
        return self.id_pattern is None or self.id_pattern(transactional_id)


def filter_of(request: ListTransactionsRequest) -> tuple[ListFilter, list[str]]:
    """The filter of a request, and the unknown state names in it. They match nothing."""
    states = frozenset(STATE_BY_LABEL[name] for name in request.state_filters if name in STATE_BY_LABEL)
    wanted = ListFilter(
        states=states if request.state_filters else None,
        producer_ids=frozenset(request.producer_id_filters),
        open_for_ms=request.duration_filter,
        id_pattern=compile_id_pattern(request.transactional_id_pattern),
    )
    return wanted, [name for name in dict.fromkeys(request.state_filters) if name not in STATE_BY_LABEL]


def listed(wanted: ListFilter, now_ms: int, state: TxnState) -> list[list_transactions.TransactionState]:
    """The ids of a shard that a request wants to see."""
    return [
        list_transactions.TransactionState(
            transactional_id=transactional_id,
            producer_id=metadata.producer_id,
            transaction_state=metadata.state.label,
        )
        for transactional_id, metadata in state.items()
        if wanted.matches(transactional_id, metadata, now_ms)
    ]


def described(transactional_id: str, metadata: TransactionMetadata) -> describe_transactions.TransactionState:
    """Everything about one id."""
    topics: defaultdict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted(metadata.partitions):
        topics[topic].append(partition)
    return describe_transactions.TransactionState(
        transactional_id=transactional_id,
        transaction_state=metadata.state.label,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_start_time_ms=metadata.start_ms,
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        topics=[describe_transactions.TopicData(topic=name, partitions=found) for name, found in topics.items()],
    )


def undescribed(transactional_id: str, code: ErrorCode) -> describe_transactions.TransactionState:
    """Why an id can't be shown."""
    return describe_transactions.TransactionState(transactional_id=transactional_id, error_code=code)


def compile_id_pattern(pattern: str | None) -> Callable[[str], bool] | None:
    """Says whether a whole id matches; None lets all pass.

    >>> compile_id_pattern("orders-.*")("orders-1")
    True
    """
    if not pattern:
        return None
    try:
        compiled = LinearRegex(pattern, work_max=_PATTERN_WORK_MAX)
    except RegexError as error:
        raise _invalid(pattern, error) from error

    def matches(transactional_id: str) -> bool:
        try:
            return compiled.matches(transactional_id)
        except RegexError as error:
            raise _invalid(pattern, error) from error

    return matches


def _invalid(pattern: str, reason: RegexError) -> InvalidRegularExpressionError:
    return InvalidRegularExpressionError(
        f"Transaction ID pattern `{pattern}` is not a valid regular expression: {reason}."
    )
