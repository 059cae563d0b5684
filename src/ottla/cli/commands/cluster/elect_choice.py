"""Which replica should lead a partition that has lost its leader, and what each choice would lose.

A replica whose last batch is of a later leader epoch knows more of what was committed; among equals the longer log
wins, as it does when a quorum elects. The other replicas then cut off what the new leader does not have.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Candidate(NamedTuple):
    """A replica; offset and epoch are None where its broker could not be asked."""

    broker: int
    in_sync: bool
    end_offset: int | None
    last_epoch: int | None
    size_bytes: int | None
    problem: str = ""

    @property
    def is_live(self) -> bool:
        """Whether its log could be looked at."""
        return self.end_offset is not None


class Loss(NamedTuple):
    """The records that live replicas hold and a new leader lacks."""

    records: int
    is_certain: bool
    """False where another replica's last epoch differs: their logs may part earlier than their ends tell."""


def best_of(candidates: Sequence[Candidate]) -> Candidate | None:
    """The one that knows most; the first of equals, which is the preferred leader. None if none is live.

    >>> short, long = Candidate(1, True, 10, 3, None), Candidate(2, False, 12, 3, None)
    >>> best_of([short, long]).broker, best_of([short._replace(last_epoch=4), long]).broker
    (2, 1)
    """
    live = [candidate for candidate in candidates if candidate.is_live]
    return max(live, key=_knowledge, default=None)


def loss_of(chosen: Candidate, candidates: Iterable[Candidate]) -> Loss:
    """What is lost for good if `chosen` leads, as far as live replicas tell.

    >>> longer, away = Candidate(2, False, 12, 3, None), Candidate(3, False, None, None, None)
    >>> loss_of(Candidate(1, True, 10, 3, None), [longer, away])
    Loss(records=2, is_certain=True)
    """
    others = [other for other in candidates if other.is_live and other.broker != chosen.broker]
    records = max((_end(other) - _end(chosen) for other in others), default=0)
    return Loss(max(0, records), all(other.last_epoch == chosen.last_epoch for other in others))


def order_of(chosen: Candidate, replicas: Sequence[int]) -> list[int]:
    """The replicas with the chosen one first: an unclean election takes the first that is alive."""
    return [chosen.broker, *(replica for replica in replicas if replica != chosen.broker)]


def _knowledge(candidate: Candidate) -> tuple[int, int]:
    return (-1 if candidate.last_epoch is None else candidate.last_epoch, _end(candidate))


def _end(candidate: Candidate) -> int:
    assert candidate.end_offset is not None
    return candidate.end_offset
