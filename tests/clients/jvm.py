"""A program on a JVM that runs beside a test: started, killed, started again, its output kept."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.kafka.peer import command

_END_SECONDS = 60
_SHOWN_CHARACTERS = 6_000


class Program:
    """One class, or one `.java` file, with Apache Kafka's jars; its output goes to a file."""

    def __init__(self, output: Path, main: str, arguments: Sequence[str]) -> None:
        self._output = output
        self._command = command(main, arguments)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it."""
        assert self._process is None, "it runs already"
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT
            )

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process is not None
        return self._process.pid

    def check(self) -> None:
        """Fails if it ended by itself."""
        assert self._process is not None
        assert self._process.poll() is None, f"it ended with {self._process.returncode}:\n{self.output()}"

    def finish(self) -> int:
        """Ends its input, which is how such a program is asked to stop; its exit code."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        code = self._process.wait(_END_SECONDS)
        self._process = None
        return code

    def kill(self) -> None:
        """Ends it without a chance to tidy up."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.kill()
            self._process.wait()
            self._process = None

    def output(self) -> str:
        """What it printed last."""
        return self._output.read_text(errors="replace")[-_SHOWN_CHARACTERS:]
