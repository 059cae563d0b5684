"""One seed is one run of a whole cluster, and a failing one says how to see it again."""

import subprocess
import sys

import pytest

from ottla.testing.simulation.metadata.canary import CANARIES
from ottla.testing.simulation.metadata.world import METADATA
from ottla.testing.simulation.runner import SimulationFailure, run_seed


def test_one_seed_gives_one_run() -> None:
    assert run_seed(8, 3000, METADATA) == run_seed(8, 3000, METADATA)
    assert run_seed(8, 3000, METADATA) != run_seed(9, 3000, METADATA)


def test_hashes_do_not_matter() -> None:
    code = (
        "from ottla.testing.simulation.metadata.world import METADATA\n"
        "from ottla.testing.simulation.runner import run_seed\n"
        "print(run_seed(8, 3000, METADATA))"
    )
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
    assert outputs == {f"{run_seed(8, 3000, METADATA)}\n"}


def test_a_failure_prints_seed_trace_and_command() -> None:
    canary = CANARIES["never-unfences"]
    with canary.sabotage(), pytest.raises(SimulationFailure) as failure:
        run_seed(0, 2000, METADATA)
    text = str(failure.value)
    assert "python -m ottla.testing.simulation --world metadata --seed 0 --chaos-ms 2000" in text
    assert "AllBrokersReturn" in text
    assert "claims the controllership of epoch" in text


def test_the_command_runs_seeds() -> None:
    command = [sys.executable, "-m", "ottla.testing.simulation", "--world", "metadata"]
    done = subprocess.run([*command, "--seeds", "2", "--chaos-ms", "500"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("2 seeds")
