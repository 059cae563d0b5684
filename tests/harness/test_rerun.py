"""The second chance of tests with real processes, in real runs of pytest, with xdist as `make test` has it."""

from pathlib import Path

import pytest

from tests.harness import project
from tests.harness.project import XDIST, closing_line

PLUGIN = "tests.harness.rerun"

# Passes from the second run on: a file tells how often it ran.
UNLUCKY = """
import pathlib

def counted(name):
    path = pathlib.Path(__file__).with_name(name + ".runs")
    runs = len(path.read_text()) if path.exists() else 0
    path.write_text("x" * (runs + 1))
    return runs + 1
"""


both = pytest.mark.parametrize("processes", [(), XDIST], ids=["one process", "xdist"])


def write(directory: Path, name: str, body: str) -> None:
    project.write(directory, name, UNLUCKY + body)


def run(directory: Path, *arguments: str) -> tuple[int, str]:
    return project.run(directory, PLUGIN, *arguments)


@both
def test_one_that_passes_alone_is_named_with_its_first_failure(tmp_path: Path, processes: tuple[str, ...]) -> None:
    write(
        tmp_path,
        "tests/integration/test_it.py",
        "def test_luck():\n    assert counted('luck') > 1, 'the broker was slow'\n\ndef test_sure():\n    pass\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *processes)
    assert code == 0
    assert closing_line(output) == "2 passed, 1 flaky"
    assert "FLAKY tests/integration/test_it.py::test_luck - AssertionError: the broker was slow" in output
    assert "assert counted('luck') > 1, 'the broker was slow'\n" in output, "the traceback of the first failure"


@both
def test_a_second_failure_fails_the_run(tmp_path: Path, processes: tuple[str, ...]) -> None:
    write(
        tmp_path,
        "tests/clients/test_it.py",
        "def test_broken():\n    assert False, f'run {counted(\"broken\")}'\n\ndef test_sure():\n    pass\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *processes)
    assert code == 1
    assert closing_line(output) == "1 failed, 1 passed"
    assert "FAILED tests/clients/test_it.py::test_broken - AssertionError: run 2" in output
    assert "AssertionError: run 1" in output, "the first failure is shown as well"
    assert "FLAKY" not in output


def test_what_has_no_luck_to_blame_is_not_run_again(tmp_path: Path) -> None:
    for directory in ("unit", "property", "simulation"):
        write(tmp_path, f"tests/{directory}/test_{directory}.py", "def test_luck():\n    assert counted('luck') > 1\n")
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (1, "3 failed")
    assert (tmp_path / "tests/unit/luck.runs").read_text() == "x"


def test_more_than_two_flaky_tests_fail_the_run(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path, f"tests/torture/test_{number}.py", f"def test_it():\n    assert counted('{number}') > 1\n")
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (1, "3 failed")
    assert output.count("\nFLAKY tests/torture/") == 3
    assert "3 flaky tests fail the run (at most 2 are let through)" in output


def test_two_flaky_tests_are_let_through(tmp_path: Path) -> None:
    for number in range(2):
        write(tmp_path, f"tests/torture/test_{number}.py", f"def test_it():\n    assert counted('{number}') > 1\n")
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (0, "2 passed, 2 flaky")


def test_a_set_up_that_fails_for_a_whole_file_is_one_piece_of_bad_luck(tmp_path: Path) -> None:
    write(
        tmp_path,
        "tests/integration/test_it.py",
        "import pytest\n\n@pytest.fixture(scope='module')\ndef broker():\n    assert counted('broker') > 1\n\n"
        "@pytest.mark.parametrize('number', range(5))\ndef test_it(broker, number):\n    pass\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (0, "5 passed, 1 flaky")


def test_a_teardown_that_fails_once_counts_its_test_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        "tests/integration/test_it.py",
        "import pytest\n\n@pytest.fixture\ndef broker():\n    yield\n    assert counted('broker') > 1\n\n"
        "def test_it(broker):\n    pass\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (0, "1 passed, 1 flaky")


def test_a_worker_that_dies_leaves_its_test_to_be_run_again(tmp_path: Path) -> None:
    write(
        tmp_path,
        "tests/integration/test_it.py",
        "import os\n\ndef test_it():\n    if counted('it') == 1:\n        os._exit(1)\n\ndef test_sure():\n    pass\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (0, "2 passed, 1 flaky")
    assert "crashed while running" in output


def test_the_second_run_is_alone(tmp_path: Path) -> None:
    """It starts when the slowest test of the parallel run has ended."""
    write(
        tmp_path,
        "tests/integration/test_luck.py",
        "def test_it():\n    assert counted('it') > 1\n"
        "    assert pathlib.Path(__file__).with_name('slow.runs').exists()\n",
    )
    write(
        tmp_path,
        "tests/integration/test_slow.py",
        "import time\n\ndef test_it():\n"
        "    while not pathlib.Path(__file__).with_name('it.runs').exists():\n        time.sleep(0.01)\n"
        "    time.sleep(2)\n    counted('slow')\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (0, "2 passed, 1 flaky")


def test_too_many_failures_are_not_run_again(tmp_path: Path) -> None:
    write(
        tmp_path,
        "tests/integration/test_it.py",
        "import pytest\n\n@pytest.mark.parametrize('number', range(11))\n"
        "def test_it(number):\n    assert counted(str(number)) > 1\n",
    )
    code, output = run(tmp_path, "--rerun-failed", *XDIST)
    assert (code, closing_line(output)) == (1, "11 failed")
    assert "11 failures, too many to run again (at most 10)" in output


def test_without_the_option_a_failure_is_a_failure(tmp_path: Path) -> None:
    write(tmp_path, "tests/integration/test_it.py", "def test_luck():\n    assert counted('luck') > 1\n")
    code, output = run(tmp_path)
    assert (code, closing_line(output)) == (1, "1 failed")
