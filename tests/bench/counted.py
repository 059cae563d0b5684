"""Instructions that a process of ours executes, as `valgrind --tool=callgrind` counts them: the same on a busy machine.

The process starts uncounted; `counting` counts from the beginning of a block to its end, all threads together, the
kernel's part left out.
"""

import contextlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients.server import OttlaServer

START_SECONDS = 600
"""Under valgrind even the imports take half a minute."""
_CONTROL_SECONDS = 120


@dataclass
class Count:
    """Filled when its block ends."""

    instructions: int = 0


def counted_command(directory: Path, command: Sequence[str]) -> list[str]:
    """The command line that runs `command` so that it can be counted."""
    options = ("--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={directory}/callgrind.out.%p")
    return ["valgrind", "--quiet", *options, *command]


@contextlib.contextmanager
def counting(pid: int, directory: Path) -> Iterator[Count]:
    """Counts what the process does within the block."""
    count = Count()
    _control("--instr=on", pid)
    yield count
    _control("--dump", pid)
    _control("--instr=off", pid)
    last = max(directory.glob(f"callgrind.out.{pid}.*"), key=lambda path: path.stat().st_mtime)
    found = re.search(r"^(?:summary|totals): (\d+)", last.read_text(), re.MULTILINE)
    assert found is not None, f"no sum in {last}"
    count.instructions = int(found.group(1))
    last.unlink()
    _control("--zero", pid)


def _control(option: str, pid: int) -> None:
    subprocess.run(["callgrind_control", option, str(pid)], check=True, capture_output=True, timeout=_CONTROL_SECONDS)


class CountedServer(OttlaServer):
    """A broker that can be counted."""

    start_seconds = START_SECONDS

    def _serve_command(self) -> Sequence[str]:
        return counted_command(self.directory, super()._serve_command())


class CountedProgram:
    """A Python program that does a piece of work for each line that it reads, and answers with a line."""

    def __init__(self, directory: Path, module: str, *arguments: str) -> None:
        self._directory = directory
        self._process = subprocess.Popen(
            counted_command(directory, [sys.executable, "-m", module, *arguments]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, order: str) -> str:
        """Has a piece of work done; what the program says then."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(order + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        assert answer, f"the program ended at {order!r}"
        return answer

    def count(self, order: str) -> float:
        """Instructions of a piece of work, for each of the units that the program says it was."""
        with counting(self._process.pid, self._directory) as count:
            done = int(self.ask(order))
        return count.instructions / done

    def close(self) -> None:
        """Ends the program."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(_CONTROL_SECONDS)
        self._process.stdout.close()
