"""Runs pytest on files of a user, with the plugin as if it were installed."""

import os
import subprocess
import sys
from pathlib import Path

PLUGIN = "ottla.testing.pytest_plugin"
_TIMEOUT_S = 300


def run_tests(directory: Path, *arguments: str) -> str:
    """What pytest says; with the plugin once, whether or not the installed package brings it along."""
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:ottla", "-p", PLUGIN, "-p", "no:cacheprovider", *arguments],
        cwd=directory,
        env={name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return ended.stdout + ended.stderr
