"""Commands that end before their time say little, and never a traceback."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

from ottla.cli.ending import INTERRUPTED, ends_quietly

MANY_LINES = """
import sys
from ottla.cli.ending import ends_quietly

@ends_quietly
def main(arguments=None):
    for _ in range(100_000):
        print("a line")
    return 0

sys.exit(main())
"""


def _run(output: int) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-c", MANY_LINES], stdout=output, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr.decode()


def test_nobody_reads_any_more() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert _run(writing) == (0, "")
    finally:
        os.close(writing)


def test_the_disk_is_full() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        code, said = _run(full)
    finally:
        os.close(full)
    assert code == 1
    assert said.endswith("No space left on device\n")
    assert said.count("\n") == 1


def test_an_interruption_is_an_exit_code() -> None:
    @ends_quietly
    def interrupted(arguments: Sequence[str] | None = None) -> int:
        raise KeyboardInterrupt

    assert interrupted([]) == INTERRUPTED


def test_other_codes_are_those_of_the_command() -> None:
    @ends_quietly
    def main(arguments: Sequence[str] | None = None) -> int:
        return len(arguments or ())

    assert main(["a", "b"]) == 2
    with pytest.raises(SystemExit):
        ends_quietly(lambda arguments: sys.exit(1))([])
