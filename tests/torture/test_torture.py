"""Short runs of what `make torture` does at length."""

from pathlib import Path

import pytest

from tests.torture.change_run import ChangeRun
from tests.torture.checker import check
from tests.torture.history import Outcome, Poll
from tests.torture.plan import Plan
from tests.torture.run import Run
from tests.torture.verdict import verdict

SEED = 5
SECONDS = 8.0


def test_real_clients_under_kill_9(tmp_path: Path) -> None:
    """No promise is broken while the broker and its clients are killed; the directory that is named stays."""
    run = Run(Plan(SECONDS, SEED, tmp_path / "torture"))
    history = run.history()
    anomalies = check(history)
    assert not anomalies, f"{verdict(history, anomalies, run.events)}\nhistory in {run.histories}"
    # A run in which nothing happened would prove nothing.
    assert run.events["kill -9 of all brokers"]
    assert any(send.outcome is Outcome.OK and send.transaction is None for send in history.sends)
    assert any(transaction.outcome is Outcome.OK for transaction in history.transactions)
    assert any(send.source is not None and send.outcome is Outcome.OK for send in history.sends)
    assert any(commit.outcome is Outcome.OK and commit.transaction is None for commit in history.commits)


def test_our_own_clients_under_kill_9(tmp_path: Path) -> None:
    """Those of `ottla.client`, blocking and asyncio, keep the promises as well."""
    run = Run(Plan(SECONDS, SEED, tmp_path / "own", is_own=True))
    history = run.history()
    anomalies = check(history)
    assert not anomalies, f"{verdict(history, anomalies, run.events)}\nhistory in {run.histories}"
    processes = {read.process.partition(".")[0] for read in history.reads if isinstance(read, Poll)}
    assert {"classic-blocking", "modern-asyncio", "dirty-blocking"} <= processes
    assert any(transaction.outcome is Outcome.OK for transaction in history.transactions)
    assert any(send.source is not None and send.outcome is Outcome.OK for send in history.sends)


def test_topics_that_change_under_kill_9(tmp_path: Path) -> None:
    """Three nodes; topics grow, are deleted and made anew, cut short and compacted, and their replicas move."""
    run = ChangeRun(Plan(SECONDS, SEED, tmp_path / "changes"))
    assert not (wrong := run.wrongs()), "\n".join(wrong)
    assert run.events["kill -9 of a broker"] or run.events["kill -9 of all brokers"]
    assert run.events["reassignments"] or run.events["reassignments that failed"]
    assert run.events["topics that were deleted and made anew"]


@pytest.mark.long
def test_three_secure_nodes_under_kill_9(tmp_path: Path) -> None:
    """Nodes that log in to each other over TLS, and ask an authorizer, keep the promises as others do."""
    run = Run(Plan(4 * SECONDS, SEED, tmp_path / "secure", nodes=3, is_secure=True))
    history = run.history()
    anomalies = check(history)
    assert not anomalies, f"{verdict(history, anomalies, run.events)}\nhistory in {run.histories}"
    assert any(send.outcome is Outcome.OK for send in history.sends)
