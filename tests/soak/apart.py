"""A worker in a process of its own: librdkafka ends the process that it lives in where one of its assertions fails.

`rd_kafka_enq_once_del_source_return: Assertion eonce->refcnt > 0` comes once in an hour of clients that go while a
broker is away. What lives in the process that measures would end the measurement.
"""

import json
import signal
import subprocess
import sys
import threading
from types import TracebackType
from typing import Final, Self

from tests.soak.members import Groups, Transactions
from tests.soak.topics import Topics
from tests.soak.worker import FAREWELL_SECONDS, Tell, Worker

_WORKERS: Final[dict[str, type[Worker]]] = {worker.name: worker for worker in (Topics, Groups, Transactions)}
_ABORTED: Final = "processes that librdkafka ended"


class Apart:
    """Runs one kind of worker from the beginning of a block to its end, in one process after the other if it aborts."""

    def __init__(self, kind: type[Worker], bootstrap: str, seed: int, tell: Tell) -> None:
        self.failure: str | None = None
        self._command: Final = (sys.executable, "-m", "tests.soak.apart", kind.name, bootstrap, str(seed))
        self._name: Final = kind.name
        self._tell: Final = tell
        self._number = 0
        self._stopping = threading.Event()
        self._thread: Final = threading.Thread(target=self._run, name=kind.name, daemon=True)
        self._lock: Final = threading.Lock()
        """Held by who starts a process, and by who ends the last one."""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._stopping.set()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()
        self._thread.join(FAREWELL_SECONDS)
        if self._thread.is_alive():
            self.failure = f"{self._name} did not end within {FAREWELL_SECONDS:g} s"
            if self._process is not None:
                self._process.kill()

    def _run(self) -> None:
        while (process := self._started()) is not None:
            assert process.stdout is not None
            for line in process.stdout:
                self._number, what = json.loads(line)
                self._tell(what)
            code = process.wait()
            if code == -signal.SIGABRT:
                self._tell(_ABORTED)
            elif code or not self._stopping.is_set():
                self.failure = f"{self._name} ended with {code}: see what it said above"
                return

    def _started(self) -> subprocess.Popen[str] | None:
        with self._lock:
            if self._stopping.is_set():
                return None
            self._process = subprocess.Popen(
                (*self._command, str(self._number + 1)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            return self._process


def main() -> int:
    """A worker, until its standard input ends; tells each thing that was done in a line."""
    name, bootstrap, seed, number = sys.argv[1:]
    worker = _WORKERS[name](bootstrap, int(seed) + int(number), lambda what: _say(worker.number, what))
    worker.number = int(number)
    with worker:
        sys.stdin.read()
    if worker.failure is not None:
        print(worker.failure, file=sys.stderr)
        return 1
    return 0


def _say(number: int, what: str) -> None:
    print(json.dumps((number, what)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
