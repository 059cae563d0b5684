"""A history, indexed the ways that the checks look at it, and what became of its sends and transactions."""

from collections import defaultdict
from collections.abc import Callable
from functools import cached_property

from tests.torture.history import Assigned, Decision, History, Outcome, Poll, Send, Transaction

Place = tuple[str, int]
"""Partition and offset."""


class View:
    """Nothing here judges: it only answers questions about the history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.send_of = {send.value: send for send in history.sends}
        self.transaction_of = {transaction.id: transaction for transaction in history.transactions}

    @cached_property
    def places(self) -> dict[str, set[Place]]:
        """Where each value was seen, during the run or at its end."""
        return self._places(lambda _: True)

    @cached_property
    def committed_places(self) -> dict[str, set[Place]]:
        """Those that read_committed readers saw."""
        return self._places(lambda poll: poll.is_committed)

    def _places(self, counts: Callable[[Poll], bool]) -> dict[str, set[Place]]:
        found: dict[str, set[Place]] = defaultdict(set)
        for read in self.history.reads:
            if isinstance(read, Poll) and counts(read):
                found[read.value].add((read.partition, read.offset))
        for partition, log in self.history.final.items():
            for offset, value in log.items():
                found[value].add((partition, offset))
        return found

    @cached_property
    def final_values(self) -> set[str]:
        """Everything that was there in the end."""
        return {value for log in self.history.final.values() for value in log.values()}

    @cached_property
    def sends_of_transaction(self) -> dict[str, list[Send]]:
        """The sends of each transaction."""
        found: dict[str, list[Send]] = defaultdict(list)
        for send in self.history.sends:
            if send.transaction is not None:
                found[send.transaction].append(send)
        return found

    @cached_property
    def reads_of_process(self) -> dict[str, list[Assigned | Poll]]:
        """What each process read, in its order."""
        found: dict[str, list[Assigned | Poll]] = defaultdict(list)
        for read in self.history.reads:
            found[read.process].append(read)
        return found

    @cached_property
    def group_of_process(self) -> dict[str, str]:
        """The group that each consumer is in."""
        return {read.process: read.group for read in self.history.reads if isinstance(read, Assigned)}

    def is_committed(self, transaction_id: str) -> bool:
        """Whether the client was told that the transaction is committed."""
        found = self.transaction_of.get(transaction_id)
        return found is not None and (found.decision, found.outcome) == (Decision.COMMIT, Outcome.OK)

    def can_commit(self, transaction_id: str) -> bool:
        """Whether it may be committed: its client asked for that, and was not told that it is not."""
        found = self.transaction_of.get(transaction_id)
        return found is not None and found.decision is Decision.COMMIT and found.outcome is not Outcome.FAIL

    def is_promised(self, send: Send) -> bool:
        """Whether a record has to be there for ever."""
        acknowledged = send.outcome is Outcome.OK
        return acknowledged and (send.transaction is None or self.is_committed(send.transaction))

    def is_refused(self, send: Send) -> bool:
        """Whether a record may never be seen by a read_committed reader."""
        if send.outcome is Outcome.FAIL:
            return True
        return send.transaction is not None and not self.can_commit(send.transaction)

    def transaction(self, send: Send) -> Transaction | None:
        """The transaction that a send is part of."""
        return None if send.transaction is None else self.transaction_of.get(send.transaction)
