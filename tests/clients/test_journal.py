"""The journal of acknowledged records sees what it is there to see: losses, doubles, swaps, gaps."""

import pytest

from tests.clients.killing import Journal

PROMISED = [(0, 0), (1, 1), (2, 2)]


def journal() -> Journal:
    kept = Journal(1)
    kept.acknowledged[0] = list(PROMISED)
    return kept


@pytest.mark.parametrize("idempotent", [True, False])
def test_what_was_promised_and_more_is_fine(idempotent: bool) -> None:
    journal().check(0, [(0, 0), (1, 1), (2, 2), (3, 3)], idempotent=idempotent)


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        ([(0, 0), (1, 1)], "not there"),
        ([(0, 0), (1, 2), (2, 1)], "not there"),
        ([(0, 0), (1, 1), (2, 2), (3, 1)], "doubled"),
        ([(0, 0), (1, 1), (2, 2), (3, 5), (4, 4)], "reordered"),
        ([(0, 0), (1, 1), (3, 2)], "gaps"),
    ],
)
def test_what_is_wrong_is_seen(found: list[tuple[int, int]], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        journal().check(0, found, idempotent=True)


def test_a_record_without_a_known_offset_may_not_be_lost() -> None:
    """A retried batch is acknowledged without its offset."""
    kept = journal()
    kept.acknowledged[0].append((3, -1))
    kept.check(0, [(0, 0), (1, 1), (2, 2), (3, 3)], idempotent=True)
    with pytest.raises(AssertionError, match="lost"):
        kept.check(0, [(0, 0), (1, 1), (2, 2)], idempotent=True)
