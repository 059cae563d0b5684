"""Starts, watches and ends `tests.integration.client.consuming` processes."""

import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self


class ConsumerProcess:
    """One consumer in a process of its own; what it prints is in a file."""

    def __init__(self, output: Path, bootstrap: str, group: str, topic: str, **settings: object) -> None:
        self._output = output
        arguments = [f"{name}={value}" for name, value in settings.items()]
        command = [sys.executable, "-m", "tests.integration.client.consuming", bootstrap, group, topic, *arguments]
        with output.open("ab") as file:
            self._process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def lines(self) -> list[str]:
        """What it printed so far, whole lines only."""
        return self._output.read_text().rpartition("\n")[0].splitlines()

    def told(self) -> list[str]:
        """What the group told it so far."""
        assert self._process.poll() in (None, 0, -signal.SIGKILL), "\n".join(self.lines()[-30:])
        return [line for line in self.lines() if line.split(" ")[0] in ("assigned", "revoked", "lost")]

    def records(self) -> list[tuple[int, int]]:
        """Partitions and offsets of the records it got so far."""
        found = [line.split() for line in self.lines() if line.startswith("record ")]
        return [(int(partition), int(offset)) for _, partition, offset in found]

    def owned(self) -> set[int]:
        """The partitions that it has now."""
        owned: set[int] = set()
        for line in self.told():
            event, *numbers = line.split()
            here = {int(number) for number in numbers}
            owned = owned | here if event == "assigned" else owned - here
        return owned

    def send(self, number: signal.Signals) -> None:
        """Sends a signal."""
        self._process.send_signal(number)

    def stop(self) -> None:
        """Asks it to close its consumer and waits until it has."""
        self._process.terminate()
        assert self._process.wait(60) == 0, "\n".join(self.lines()[-20:])

    def kill(self) -> None:
        """Ends it without a chance to say so."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
