"""A service of `ottla.web` as a process of its own, and plain JSON requests to it."""

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self

from tests.kafka.port import free_port

START_SECONDS: Final = 60


class ServiceProcess:
    """`ottla COMMAND`; `settings` are the service's, with underscores for dots."""

    command = ""
    content_type = "application/json"

    def __init__(self, directory: Path, bootstrap: str, *options: str, **settings: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = directory / f"{self.command}.log"
        self._arguments = ["-b", bootstrap, "-l", f"127.0.0.1:{self.port}", *options, *_settings(settings)]
        self._process: subprocess.Popen[bytes] | None = None

    def listen_at(self, port: int, listeners: str) -> None:
        """Several listeners, of which the one at `port` speaks plain HTTP."""
        self.port, self.url = port, f"http://127.0.0.1:{port}"
        self._arguments[3] = listeners

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *, wait: bool = True) -> Self:
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                self.command_line(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if wait:
            eventually(self.is_up, self)
        return self

    def command_line(self) -> Sequence[str]:
        """What starts it."""
        return [sys.executable, "-m", "ottla.cli.main", self.command, *self._arguments]

    def is_up(self) -> bool:
        """Whether it does what it is there for."""
        return self.is_ready()

    def is_ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def ask(
        self, method: str, path: str, body: object = None, raw: bytes | None = None, **headers: str
    ) -> tuple[int, Any]:
        """Status and decoded answer of one request; path and body are sent as they are."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": self.content_type, **{name.replace("_", "-"): each for name, each in headers.items()}}
        try:
            connection.request(method, path, data, sent)
            response = connection.getresponse()
            answer = response.read()
        finally:
            connection.close()
        is_json = "json" in (response.getheader("content-type") or "")
        return response.status, json.loads(answer) if is_json and answer else answer.decode()

    def stop(self) -> int:
        if self._process is None:
            return 0
        self._process.terminate()
        code = self._process.wait(START_SECONDS)
        self._process = None
        return code

    def wait(self) -> int:
        """The code with which it ends by itself."""
        assert self._process is not None
        code = self._process.wait(START_SECONDS)
        self._process = None
        return code

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def output(self) -> str:
        return self.log.read_text()[-4000:]


def _settings(given: dict[str, str]) -> Sequence[str]:
    pairs = [f"{name.replace('_', '.')}={value}" for name, value in given.items()]
    return [word for pair in pairs for word in ("-X", pair)]


def eventually(holds: Callable[[], bool], service: ServiceProcess, seconds: float = START_SECONDS) -> None:
    """Waits until something holds; fails with what the service said last."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, service.output()
        time.sleep(0.05)
