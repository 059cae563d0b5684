"""A runner's connection to its control process: messages come by a thread, signs of life go by another.

Signs of life are sent only while the main loop turns: a runner that hangs falls silent and is killed.
"""

import os
import queue
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.pipelines.runner.message import (
    BEAT_SECONDS,
    CONTROL_VARIABLE,
    NAME_VARIABLE,
    TOKEN_VARIABLE,
    decode,
    encode,
)

_CONNECT_SECONDS: Final = 30.0
_HANG_SECONDS: Final = 60.0
"""Some calls of Spark take long on a busy machine; what takes longer than this is a hang."""


class ControlLink:
    """Opened once; when it is gone the runner ends."""

    def __init__(self) -> None:
        try:
            host, _, port = os.environ[CONTROL_VARIABLE].rpartition(":")
            self.name: Final = os.environ[NAME_VARIABLE]
            token = os.environ[TOKEN_VARIABLE]
        except KeyError as error:
            raise OttlaError(f"a runner is started by a control process: {error.args[0]} is not set") from None
        self._socket: Final = socket.create_connection((host, int(port)), _CONNECT_SECONDS)
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lock: Final = threading.Lock()
        self._received: Final[queue.SimpleQueue[dict[str, Any] | None]] = queue.SimpleQueue()
        self._turned_s = time.monotonic()
        self.send({"say": "hello", "token": token})
        threading.Thread(target=self._receive, daemon=True).start()
        threading.Thread(target=self._beat, daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends it; if the control process is gone, `next` will tell."""
        try:
            with self._lock:
                self._socket.sendall(encode({"runner": self.name, **message}))
        except OSError:
            self._received.put(None)

    def next(self, wait_s: float) -> dict[str, Any]:
        """The next message, empty if none came in time; `ConnectionError` when the control process is gone."""
        self._turned_s = time.monotonic()
        try:
            found = self._received.get(timeout=wait_s)
        except queue.Empty:
            return {}
        if found is None:
            self._received.put(None)
            raise ConnectionError("the control process is gone")
        return found

    def _receive(self) -> None:
        try:
            with self._socket.makefile("rb") as lines:
                for line in lines:
                    self._received.put(decode(line))
        except (OSError, ValueError):
            pass
        self._received.put(None)

    def _beat(self) -> None:
        while True:
            if time.monotonic() - self._turned_s < _HANG_SECONDS:
                self.send({"say": "beat"})
            time.sleep(BEAT_SECONDS)
