"""Histories as a perfect log would give them, for Hypothesis: any of them must pass.

The log is a list for each partition. Producers write alone or in transactions whose decision is made at the end,
answers are lost at random, members of a group take partitions over from one another with or without having committed.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from tests.torture.history import Assigned, Commit, Decision, History, Outcome, Poll, Send, Transaction

PARTITIONS = ("a-0", "a-1")
GROUP = "g"


class PerfectLog:
    """Makes one history, step by step."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._now_ns = 0
        self._history = History(final={partition: {} for partition in PARTITIONS})
        self._ends = dict.fromkeys(PARTITIONS, 0)
        self._open: dict[str, list[int]] = {}
        """For each producer within a transaction: where its sends are in the history."""
        self._written: dict[str, list[tuple[str, int, int]]] = {}
        self._owner: dict[str, str] = {}
        self._position = dict.fromkeys(PARTITIONS, 0)
        self._committed = dict.fromkeys(PARTITIONS, 0)

    def run(self, steps: int) -> History:
        """A history of that many steps, and the end of all that is open."""
        choices: tuple[Callable[[], None], ...] = (self._send, self._send, self._end, self._take_over, self._poll)
        for _ in range(steps):
            self._dice.choice((*choices, self._commit))()
        for producer in list(self._open):
            self._decide(producer, Decision.NONE)
        return self._history

    def _tick(self) -> int:
        self._now_ns += self._dice.randrange(1, 10)
        return self._now_ns

    def _send(self) -> None:
        number = len(self._history.sends)
        producer = self._dice.choice(("plain", "t1", "t2"))
        transaction = None
        if producer != "plain":
            sends = self._open.setdefault(producer, [])
            first = sends[0] if sends else number
            transaction = f"{producer}:{first}"
            sends.append(number)
        partition = self._dice.choice(PARTITIONS)
        outcome = self._dice.choice((Outcome.OK, Outcome.OK, Outcome.UNKNOWN, Outcome.FAIL))
        written = outcome is Outcome.OK or (outcome is Outcome.UNKNOWN and self._dice.random() < 0.5)
        place = self._ends[partition]
        self._ends[partition] += written
        offset = place if outcome is Outcome.OK else None
        self._history.sends.append(Send(producer, partition, f"v{number}", outcome, offset, transaction))
        if written and transaction is None:
            self._reveal(partition, place, number)
        elif written:
            self._pending(producer).append((partition, place, number))

    def _pending(self, producer: str) -> list[tuple[str, int, int]]:
        """What a producer's transaction has written; kept beside the sends, as their offsets may be unknown."""
        return self._written.setdefault(producer, [])

    def _reveal(self, partition: str, offset: int, number: int) -> None:
        log = self._history.final[partition]
        assert isinstance(log, dict)
        log[offset] = f"v{number}"

    def _end(self) -> None:
        if self._open:
            producer = self._dice.choice(sorted(self._open))
            self._decide(producer, self._dice.choice(list(Decision)))

    def _decide(self, producer: str, decision: Decision) -> None:
        first = self._open.pop(producer)[0]
        outcome = self._dice.choice((Outcome.OK, Outcome.UNKNOWN))
        transaction = Transaction(f"{producer}:{first}", producer, decision, outcome, self._tick(), self._tick())
        self._history.transactions.append(transaction)
        written = self._pending(producer)
        if decision is Decision.COMMIT and (outcome is Outcome.OK or self._dice.random() < 0.5):
            for place in written:
                self._reveal(*place)
        # A marker has an offset of its own.
        for partition in {partition for partition, _, _ in written}:
            self._ends[partition] += 1
        written.clear()

    def _stable(self, partition: str) -> int:
        """Where the first open transaction of a partition begins: readers stop there."""
        opened = [
            offset for producer in self._open for found, offset, _ in self._pending(producer) if found == partition
        ]
        return min(opened, default=self._ends[partition])

    def _take_over(self) -> None:
        partition = self._dice.choice(PARTITIONS)
        self._owner[partition] = member = self._dice.choice(("c1", "c2"))
        self._position[partition] = self._committed[partition]
        self._history.reads.append(Assigned(member, GROUP, partition, self._tick()))

    def _poll(self) -> None:
        for partition, member in self._owner.items():
            log = self._history.final[partition]
            for offset in sorted(log):
                if self._position[partition] <= offset < self._stable(partition) and self._dice.random() < 0.8:
                    self._history.reads.append(Poll(member, partition, offset, log[offset], self._tick()))
                    self._position[partition] = offset + 1
                elif offset >= self._position[partition]:
                    break

    def _commit(self) -> None:
        for partition, member in self._owner.items():
            outcome = self._dice.choice(list(Outcome))
            offset = self._position[partition]
            commit = Commit(member, GROUP, partition, offset, outcome, started_ns=self._tick())
            self._history.commits.append(replace(commit, ended_ns=self._tick()))
            if outcome is Outcome.OK or (outcome is Outcome.UNKNOWN and self._dice.random() < 0.5):
                self._committed[partition] = offset


def good_histories() -> st.SearchStrategy[History]:
    """Histories without an anomaly."""
    return st.builds(
        lambda seed, steps: PerfectLog(random.Random(seed)).run(steps), st.integers(0, 2**32), st.integers(0, 80)
    )
