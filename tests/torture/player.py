"""The process that plays a part at the time, and the ones it replaced."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.torture.client.task import Task
from tests.torture.crew import Part

_FAREWELL_SECONDS = 20.0


class Player:
    """A part and its process; each process has a number, and a history file of its own."""

    def __init__(self, part: Part, task: Callable[[Part, str], Task], directory: Path) -> None:
        self.part = part
        self._task = task
        self._directory = directory
        self._count = 0
        self._paused: list[subprocess.Popen[bytes]] = []
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the client gave up by itself."""
        return self._process is None or self._process.poll() is not None

    def start(self) -> None:
        """Another process takes the part."""
        self._count += 1
        name = f"{self.part.name}.{self._count}"
        with (self._directory / f"{name}.log").open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.torture.client", self._task(self.part, name).text()],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Stops the process, which knows nothing of it, and forgets it: another may take the part meanwhile."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)
            self._paused.append(self._process)
            self._process = None

    def resume(self) -> None:
        """What was paused goes on, as zombies beside the ones that took their part."""
        for process in self._paused:
            process.send_signal(signal.SIGCONT)

    def ask_to_stop(self) -> None:
        """SIGTERM to all that there are."""
        self.resume()
        for process in self._all():
            process.terminate()

    def wait(self) -> None:
        """Returns when all have ended; the slow ones are killed."""
        for process in self._all():
            try:
                process.wait(_FAREWELL_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._paused, self._process = [], None

    def _all(self) -> list["subprocess.Popen[bytes]"]:
        return self._paused + ([] if self._process is None else [self._process])
