"""The cleaning process as the broker sees it: started with an order, listened to, stopped."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator

from ottla.storage.cleaner.process import STOPPED
from ottla.storage.cleaner.work_order import Failed, Finished, Report, WorkOrder, report_from_json

_COMMAND = (sys.executable, "-P", "-m", "ottla.storage.cleaner.process")


class CleanerChild:
    """One cleaning process and its order."""

    def __init__(self, order: WorkOrder) -> None:
        self._order = order
        self._process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def reports(self) -> Iterator[Report]:
        """The child's replies until it ends; one that dies without a last reply has failed."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        is_last_word = False
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self._order.to_json() + "\n")
            process.stdin.flush()
        for line in process.stdout:
            report = report_from_json(line)
            is_last_word = isinstance(report, (Finished, Failed))
            yield report
        code = process.wait()
        self.close()
        if not is_last_word and code != STOPPED:
            yield Failed(f"the cleaning process ended with code {code}", self._order.directory, is_corrupt=False)

    def stop(self) -> None:
        """Ends it and waits until it is gone, so that it writes nothing after this. Any thread may call."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Ends it if need be, and lets go of the pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
