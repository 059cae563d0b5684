"""One seed is one run, and a failing one says how to see it again."""

import subprocess
import sys

import pytest

from ottla.testing.simulation.canary import CANARIES
from ottla.testing.simulation.runner import SimulationFailure, run_seed


def test_one_seed_gives_one_run() -> None:
    assert run_seed(11, 4000) == run_seed(11, 4000)
    assert run_seed(11, 4000) != run_seed(12, 4000)


def test_other_processes_get_the_same_run() -> None:
    code = "from ottla.testing.simulation.runner import run_seed; print(run_seed(11, 3000))"
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
    assert outputs == {f"{run_seed(11, 3000)}\n"}


def test_a_failure_prints_seed_trace_and_command() -> None:
    canary = CANARIES["commits-alone"]
    with canary.sabotage(), pytest.raises(SimulationFailure) as failure:
        run_seed(0, 4000)
    text = str(failure.value)
    assert f"python -m ottla.testing.simulation --seed {failure.value.seed} --chaos-ms 4000" in text
    assert "MajorityReachedHighWatermark" in text
    assert "node-1    starts, run 1" in text


def test_the_command_runs_seeds() -> None:
    command = [sys.executable, "-m", "ottla.testing.simulation", "--seeds", "2", "--chaos-ms", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 seeds")
