"""Machines without a C compiler serve with the plain twins: all tests of this folder once more, with them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(bool(os.environ.get("OTTLA_PLAIN")), reason="this run is with the plain twins")
def test_the_plain_twins_serve_as_well() -> None:
    here = Path(__file__)
    command = [sys.executable, "-m", "pytest", str(here.parent), f"--ignore={here}", "-p", "no:xdist"]
    done = subprocess.run(
        command,
        env={**os.environ, "OTTLA_PLAIN": "1"},
        cwd=here.parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
