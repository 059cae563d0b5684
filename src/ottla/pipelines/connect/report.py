"""Reports from a task's process to its attendant, as lines of JSON on the process's original standard output.

Standard output itself becomes the log's, so that a connector that prints does no harm. A thread reports every two
seconds how long the connector has been in its call; a process that falls silent is killed.
"""

import os
import threading
import time
from typing import Any, Final

from ottla.pipelines.runner.message import encode

_BEAT_S: Final = 2.0


class Report:
    """The one reporter of the process."""

    def __init__(self) -> None:
        self._descriptor: Final = os.dup(1)
        os.dup2(2, 1)
        self._lock: Final = threading.Lock()
        self._call_since_s: float | None = None
        self._records = 0
        self._lag: int | None = None
        self._topics: Final[set[str]] = set()
        threading.Thread(target=self._beat, name="connect-beat", daemon=True).start()

    def enter_call(self) -> None:
        """Notes that the connector is called."""
        self._call_since_s = time.monotonic()

    def leave_call(self) -> None:
        """Notes that the call has returned."""
        self._call_since_s = None

    def running(self) -> None:
        """Reports that the task has started."""
        self._send({"say": "running"})

    def moved(self, records: int) -> None:
        """So many records are written or put."""
        self._records += records

    def behind(self, records: int) -> None:
        """So many records wait in topics for a sink."""
        if records != self._lag:
            self._lag = records
            self._send({"say": "lag", "records": records})

    def used(self, topic: str) -> None:
        """The task reads or writes the topic."""
        if topic not in self._topics:
            self._topics.add(topic)
            self._send({"say": "topics", "topics": [topic]})

    def failed(self, trace: str) -> None:
        """The task has failed."""
        self.flush()
        self._send({"say": "failed", "trace": trace})

    def flush(self) -> None:
        """Tells how many records were moved."""
        records, self._records = self._records, 0
        if records:
            self._send({"say": "moved", "records": records})

    def _beat(self) -> None:
        while True:
            time.sleep(_BEAT_S)
            since_s = self._call_since_s
            self.flush()
            self._send({"say": "beat", "call_s": 0.0 if since_s is None else time.monotonic() - since_s})

    def _send(self, message: dict[str, Any]) -> None:
        data = encode(message)
        try:
            with self._lock:
                while data:
                    data = data[os.write(self._descriptor, data) :]
        except OSError:
            # The attendant is gone; standard input tells so.
            return
