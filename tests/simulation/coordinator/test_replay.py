"""One seed is one run of a whole cluster, and a failing one says how to see it again."""

import subprocess
import sys

import pytest

from ottla.testing.simulation.coordinator.canary import CANARIES
from ottla.testing.simulation.coordinator.world import run, run_seed
from ottla.testing.simulation.runner import SimulationFailure


def test_one_seed_gives_one_run() -> None:
    assert run_seed(8, 3000) == run_seed(8, 3000)
    assert run_seed(8, 3000) != run_seed(9, 3000)


@pytest.mark.parametrize(("seed", "chaos_ms"), [(8, 3000), (2, 15_000)], ids=["short", "sessions that end together"])
def test_hashes_do_not_matter(seed: int, chaos_ms: int) -> None:
    code = f"from ottla.testing.simulation.coordinator.world import run_seed\nprint(run_seed({seed}, {chaos_ms}))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert outputs == {f"{run_seed(seed, chaos_ms)}\n"}


def test_a_failure_prints_seed_trace_and_command() -> None:
    canary = CANARIES["answers-at-once"]
    with canary.sabotage(), pytest.raises(SimulationFailure) as failure:
        run(canary.scenario(3))
    text = str(failure.value)
    assert "python -m ottla.testing.simulation --world coordinator --seed 3 --chaos-ms 5000" in text
    assert "AcknowledgedIsCommitted" in text
    assert "answers OffsetCommitRequest of node-" in text


def test_the_command_runs_seeds() -> None:
    command = [sys.executable, "-m", "ottla.testing.simulation", "--world", "coordinator"]
    done = subprocess.run([*command, "--seeds", "2", "--chaos-ms", "500"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 seeds")
