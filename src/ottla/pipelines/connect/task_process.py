"""The process in which one task runs: started, told to stop, killed, and heard.

A process of its own, because a connector is anybody's code: what hangs can be killed, what leaks ends with it, what it
prints goes to the runner's log, and a crash of it is a failed task and nothing more. It ends when its standard input
does.
"""

import queue
import signal
import subprocess
import sys
import threading
from typing import Any, Final

from ottla.pipelines.connect.definition import TaskJob, job_line
from ottla.pipelines.runner.message import decode


class TaskProcess:
    """Started by its making; what it says goes into `told`, the last message is `{"say": "exit"}`."""

    def __init__(self, job: TaskJob, told: "queue.SimpleQueue[dict[str, Any]]") -> None:
        self._told: Final = told
        self._process: Final = subprocess.Popen(
            [sys.executable, "-m", "ottla.pipelines.connect.program"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._write(job_line(job))
        threading.Thread(target=self._listen, name="connect-task", daemon=True).start()

    def stop(self) -> None:
        """Asks it to end in order."""
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
        except OSError:
            return

    def kill(self) -> None:
        """Ends it now."""
        self._process.kill()

    def wait(self) -> None:
        """Until it is gone."""
        self._process.wait()

    def _write(self, data: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(data)
            stdin.flush()
        except BrokenPipeError:
            # It died at once; its exit is told.
            return

    def _listen(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        with stdout:
            for line in stdout:
                try:
                    self._told.put({**decode(line), "process": self})
                except ValueError:
                    # A connector found the descriptor and printed to it.
                    continue
        code = self._process.wait()
        self.stop()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._told.put({"say": "exit", "how": how, "process": self})
