"""Machines without a C compiler keep logs with the plain twins: the tests of logs and segments once more, with them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(bool(os.environ.get("OTTLA_PLAIN")), reason="this run is with the plain twins")
def test_the_plain_twins_keep_logs_as_well() -> None:
    here = Path(__file__)
    folders = [str(here.parent / "log"), str(here.parent / "segment")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *folders, "-p", "no:xdist"],
        env={**os.environ, "OTTLA_PLAIN": "1"},
        cwd=here.parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
