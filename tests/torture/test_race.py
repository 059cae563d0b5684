"""A short run of what `make torture` does at length."""

from pathlib import Path

from tests.torture.plan import Plan
from tests.torture.race import CHURNS
from tests.torture.race_run import RaceRun

SEED = 7
SECONDS = 8.0


def test_nodes_live_through_churn_whose_threads_meet(tmp_path: Path) -> None:
    """Neither node ends by itself or complains, whatever its threads are doing when they change over."""
    run = RaceRun(Plan(SECONDS, SEED, tmp_path / "torture"))
    wrong = run.wrongs()
    assert not wrong, "\n".join([*wrong, repr(run.events)])
    # A run in which nothing happened would prove nothing.
    assert {churn.__name__ for churn in CHURNS} <= set(run.events), run.events
