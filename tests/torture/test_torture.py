"""Short runs of what `make torture` does at length."""

from pathlib import Path

from tests.torture.checker import check
from tests.torture.history import Outcome
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
