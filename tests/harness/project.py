"""A project of a few tests in a directory of its own, and real runs of pytest there."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
XDIST = ("-p", "xdist", "--numprocesses", "2", "--dist", "loadfile")
_TIMEOUT_S = 300


def write(directory: Path, name: str, body: str) -> None:
    """A file of tests."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body)


def run(directory: Path, plugin: str, *arguments: str) -> tuple[int, str]:
    """The exit code, and all that pytest said."""
    (directory / "pytest.ini").write_text("[pytest]\naddopts = -q -p no:cacheprovider\n")
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", plugin, *arguments],
        cwd=directory,
        env=environment | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return ended.returncode, ended.stdout + ended.stderr


def closing_line(output: str) -> str:
    """Pytest's last line, without how long it took."""
    return re.sub(r" in [\d.]+s.*", "", output.strip().splitlines()[-1])
