"""`make flaky` on a few tests of which one has bad luck."""

import os
import subprocess
import sys
from pathlib import Path

from tests.harness.project import ROOT, write

UNLUCKY = """
import pathlib

def test_luck():
    path = pathlib.Path(__file__).with_name("runs")
    path.write_text((path.read_text() if path.exists() else "") + "x")
    assert len(path.read_text()) != 2, "the second time"

def test_sure():
    pass
"""


def test_what_failed_is_listed_with_how_often(tmp_path: Path) -> None:
    write(tmp_path, "test_it.py", UNLUCKY)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -q\n")
    command = [sys.executable, "-m", "tests.harness.flaky", "--runs", "2", "--hogs", "1", "test_it.py"]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p xdist"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "1 of 2  test_it.py::test_luck\n        AssertionError: the second time" in done.stdout
    assert done.stdout.count("2 passed in") == 1
    assert "test_sure" not in done.stdout
