"""The checker catches each kind of anomaly in a history made by hand, and nothing in good ones."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given

from tests.torture.anomaly import Anomaly, AnomalyKind
from tests.torture.checker import CHECKS, check
from tests.torture.good_history import good_histories
from tests.torture.history import Assigned, Commit, Decision, History, Outcome, Poll, Send, Transaction
from tests.torture.view import View

COMMITTED = Transaction("t", "p", Decision.COMMIT, started_ns=10, ended_ns=20)
ABORTED = Transaction("t", "p", Decision.ABORT, started_ns=10, ended_ns=20)


def sent(value: str, offset: int | None = None, **more: object) -> Send:
    return Send("p", "a-0", value, offset=offset, **more)


def polled(offset: int, value: str, process: str = "c", at_ns: int = 50, *, is_committed: bool = True) -> Poll:
    return Poll(process, "a-0", offset, value, at_ns, is_committed)


def log(*values: str) -> dict[str, dict[int, str]]:
    return {"a-0": dict(enumerate(values))}


def results(*outcomes: Decision) -> list[Send]:
    return [
        Send("etl", "b-0", f"r{number}", offset=number, transaction=f"t{number}", source=("g", "a-0", 0))
        for number, _ in enumerate(outcomes)
    ]


ASSIGNED = Assigned("c", "g", "a-0", at_ns=30)

BAD = {
    "acknowledged and gone": (AnomalyKind.LOST_WRITE, History([sent("x", 0)], final={"a-0": {}})),
    "committed and gone": (
        AnomalyKind.LOST_WRITE,
        History([sent("x", 0, transaction="t")], [COMMITTED], final={"a-0": {}}),
    ),
    "seen once, and gone": (
        AnomalyKind.LOST_WRITE,
        History([sent("x", 0)], reads=[ASSIGNED, polled(0, "x")], final={"a-0": {}}),
    ),
    "aborted and polled": (
        AnomalyKind.ABORTED_READ,
        History([sent("x", 0, transaction="t")], [ABORTED], reads=[ASSIGNED, polled(0, "x")]),
    ),
    "aborted and there in the end": (
        AnomalyKind.ABORTED_READ,
        History([sent("x", 0, transaction="t")], [ABORTED], final=log("x")),
    ),
    "never ended and there": (
        AnomalyKind.ABORTED_READ,
        History([sent("x", 0, transaction="t")], [Transaction("t", "p", Decision.NONE)], final=log("x")),
    ),
    "failed and there": (
        AnomalyKind.ABORTED_READ,
        History([sent("x", outcome=Outcome.FAIL)], final=log("x")),
    ),
    "nobody's": (AnomalyKind.ABORTED_READ, History(final=log("x"))),
    "nobody's, and polled as uncommitted": (
        AnomalyKind.ABORTED_READ,
        History(reads=[ASSIGNED, polled(0, "x", is_committed=False)]),
    ),
    "seen before its commit": (
        AnomalyKind.PRECOMMITTED_READ,
        History(
            [sent("x", 0, transaction="t")], [COMMITTED], reads=[ASSIGNED, polled(0, "x", at_ns=9)], final=log("x")
        ),
    ),
    "twice in a partition": (AnomalyKind.DUPLICATE, History([sent("x", 0)], final=log("x", "x"))),
    "in two partitions": (
        AnomalyKind.DUPLICATE,
        History([sent("x", 0)], final=log("x") | {"a-1": {0: "x"}}),
    ),
    "not where it was said to be": (
        AnomalyKind.DIVERGING_OFFSETS,
        History([sent("x", 0), sent("y", 1)], final=log("y", "x")),
    ),
    "not where it was polled": (
        AnomalyKind.DIVERGING_OFFSETS,
        History([sent("x"), sent("y")], reads=[ASSIGNED, polled(0, "x")], final=log("y", "x")),
    ),
    "two acknowledged at one offset": (AnomalyKind.DIVERGING_OFFSETS, History([sent("x", 0), sent("y", 0)])),
    "reordered": (AnomalyKind.NON_MONOTONIC_SEND, History([sent("x", 1), sent("y", 0)], final=log("y", "x"))),
    "half a transaction": (
        AnomalyKind.TORN_TRANSACTION,
        History(
            [sent("x", 0, transaction="t"), sent("y", 1, transaction="t")],
            [Transaction("t", "p", Decision.COMMIT, Outcome.UNKNOWN)],
            final=log("x"),
        ),
    ),
    "never decided": (AnomalyKind.HANGING_TRANSACTION, History(undecided={"a-0": 7})),
    "replicas that are not the same": (AnomalyKind.DIVERGING_REPLICAS, History(replica_differences=["a-0: differ"])),
    "a group that does not go on": (AnomalyKind.STUCK_GROUP, History(behind={("g", "a-0"): 5})),
    "polled twice": (
        AnomalyKind.NON_MONOTONIC_POLL,
        History([sent("x", 0)], reads=[ASSIGNED, polled(0, "x"), polled(0, "x")], final=log("x")),
    ),
    "polled backwards": (
        AnomalyKind.NON_MONOTONIC_POLL,
        History([sent("x", 0), sent("y", 1)], reads=[ASSIGNED, polled(1, "y"), polled(0, "x")], final=log("x", "y")),
    ),
    "jumped over": (
        AnomalyKind.SKIPPED,
        History(
            [sent("x", 0), sent("y", 1), sent("z", 2)],
            reads=[ASSIGNED, polled(0, "x"), polled(2, "z")],
            final=log("x", "y", "z"),
        ),
    ),
    "committed and never got": (
        AnomalyKind.SKIPPED,
        History(
            [sent("x", 0), sent("y", 1)],
            reads=[ASSIGNED, polled(1, "y")],
            commits=[Commit("c", "g", "a-0", 2)],
            final=log("x", "y"),
        ),
    ),
    "got by another group only": (
        AnomalyKind.SKIPPED,
        History(
            [sent("x", 0)],
            reads=[Assigned("o", "other", "a-0"), polled(0, "x", "o"), ASSIGNED],
            commits=[Commit("c", "g", "a-0", 1)],
            final=log("x"),
        ),
    ),
    "begun before what was committed": (
        AnomalyKind.LOST_COMMIT,
        History(
            [sent("x", 0)],
            reads=[Assigned("b", "g", "a-0"), polled(0, "x", "b"), ASSIGNED, polled(0, "x")],
            commits=[Commit("b", "g", "a-0", 1, ended_ns=29)],
            final=log("x"),
        ),
    ),
    "begun before what was committed in a transaction": (
        AnomalyKind.LOST_COMMIT,
        History(
            [sent("x", 0)],
            [COMMITTED],
            reads=[Assigned("b", "g", "a-0"), polled(0, "x", "b"), ASSIGNED, polled(0, "x")],
            commits=[Commit("b", "g", "a-0", 1, transaction="t", ended_ns=15)],
            final=log("x"),
        ),
    ),
    "two results": (
        AnomalyKind.DOUBLED_TRANSFORM,
        History(
            [sent("x", 0), *results(Decision.COMMIT, Decision.COMMIT)],
            [Transaction(f"t{number}", "etl", Decision.COMMIT) for number in range(2)],
            final=log("x") | {"b-0": {0: "r0", 1: "r1"}},
        ),
    ),
    "no result": (
        AnomalyKind.LOST_TRANSFORM,
        History(
            [sent("x", 0)],
            [COMMITTED],
            reads=[Assigned("c", "g", "a-0", at_ns=5), polled(0, "x")],
            commits=[Commit("c", "g", "a-0", 1, transaction="t")],
            final=log("x"),
        ),
    ),
}

GOOD = {
    "nothing": History(),
    "an unknown send that is there": History([sent("x", outcome=Outcome.UNKNOWN)], final=log("x")),
    "an unknown send that is not": History([sent("x", outcome=Outcome.UNKNOWN)], final={"a-0": {}}),
    "an unknown commit that counts": History(
        [sent("x", 0, transaction="t")], [Transaction("t", "p", Decision.COMMIT, Outcome.UNKNOWN)], final=log("x")
    ),
    "an unknown commit that does not": History(
        [sent("x", 0, transaction="t")], [Transaction("t", "p", Decision.COMMIT, Outcome.UNKNOWN)], final={"a-0": {}}
    ),
    "aborted, and polled by one who reads what is not committed": History(
        [sent("x", 0, transaction="t")],
        [ABORTED],
        reads=[ASSIGNED, polled(0, "x", at_ns=9, is_committed=False)],
        final={"a-0": {}},
    ),
    "aborted and not there, its offset skipped by readers": History(
        [sent("w", 0), sent("x", 1, transaction="t"), sent("y", 3)],
        [ABORTED],
        reads=[ASSIGNED, polled(0, "w"), polled(3, "y")],
        commits=[Commit("c", "g", "a-0", 4)],
        final={"a-0": {0: "w", 3: "y"}},
    ),
    "polled again by the next owner, as nothing was committed": History(
        [sent("x", 0)],
        reads=[Assigned("b", "g", "a-0"), polled(0, "x", "b"), ASSIGNED, polled(0, "x")],
        commits=[Commit("b", "g", "a-0", 1, Outcome.UNKNOWN), Commit("c", "g", "a-0", 1)],
        final=log("x"),
    ),
    "polled again while the commit's answer was on its way": History(
        [sent("x", 0)],
        reads=[Assigned("b", "g", "a-0"), polled(0, "x", "b"), ASSIGNED, polled(0, "x")],
        commits=[Commit("b", "g", "a-0", 1, started_ns=25, ended_ns=31)],
        final=log("x"),
    ),
    "a result at the second try": History(
        [sent("x", 0), *results(Decision.ABORT, Decision.COMMIT)],
        [Transaction("t0", "etl", Decision.ABORT), Transaction("t1", "etl", Decision.COMMIT)],
        reads=[ASSIGNED, polled(0, "x")],
        commits=[Commit("c", "g", "a-0", 1, transaction="t0"), Commit("c", "g", "a-0", 1, transaction="t1")],
        final=log("x") | {"b-0": {1: "r1"}},
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_it_catches(name: str) -> None:
    kind, history = BAD[name]
    assert kind in {anomaly.kind for anomaly in check(history)}


@pytest.mark.parametrize("name", GOOD)
def test_it_leaves_good_histories_alone(name: str) -> None:
    assert check(GOOD[name]) == []


def test_every_kind_has_a_bad_history() -> None:
    assert {kind for kind, _ in BAD.values()} == set(AnomalyKind)


@pytest.mark.parametrize("missing", CHECKS, ids=lambda look: look.__name__)
def test_no_check_is_superfluous(missing: Callable[[View], Iterator[Anomaly]]) -> None:
    """Without it a bad history would pass."""
    others = [look for look in CHECKS if look is not missing]
    assert any(not [found for look in others for found in look(View(history))] for _, history in BAD.values())


@given(good_histories())
def test_no_anomaly_in_what_a_perfect_log_gives(history: History) -> None:
    assert check(history) == []
