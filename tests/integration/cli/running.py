"""Commands that keep running, as processes of their own: started, read line by line, ended by a signal."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

END_SECONDS = 30


class Running:
    """A command whose output is gathered while it runs."""

    def __init__(self, module: str, arguments: Sequence[str], directory: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._changed = threading.Condition()
        self._is_over = False
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def wait_for(self, text: str) -> str:
        """The first line with `text` in it; fails if the command ends without one."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or any(text in line for line in self.lines), END_SECONDS)
            found = [line for line in self.lines if text in line]
        assert found, f"no {text!r} in:\n" + "\n".join(self.lines)
        return found[0]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Sends a signal and waits for the end; the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """The exit code, once there is one."""
        code = self.process.wait(END_SECONDS)
        self._reader.join()
        return code


@contextmanager
def running(module: str, *arguments: str, directory: Path) -> Iterator[Running]:
    """A command that is killed at the latest when the block ends."""
    command = Running(module, arguments, directory)
    try:
        yield command
    finally:
        command.process.kill()
        command.wait()
        assert command.process.stdout is not None
        command.process.stdout.close()
