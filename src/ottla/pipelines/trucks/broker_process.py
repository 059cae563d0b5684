"""The broker of a truck run: a child process with the defaults of `ottla broker`, its data below one directory."""

import contextlib
import ctypes
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, Self

from ottla.base.errors import OttlaError

_PR_SET_PDEATHSIG: Final = 1
_START_SECONDS: Final = 30.0
_STOP_SECONDS: Final = 30.0


class BrokerProcess:
    """Runs from `start` to `stop`; its words go to a file in the data directory."""

    def __init__(self, data: Path, host: str, port: int) -> None:
        self.bootstrap: Final = f"{host}:{port}"
        self.log: Final = data / "broker.log"
        self._address: Final = (host, port)
        self._data: Final = data
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Does not start it: who waits for it wants to say so."""
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Starts it and waits until it listens. Checks first that the port is free."""
        if _listens(self._address):
            host, port = self._address
            raise OttlaError(
                f"something listens on {self.bootstrap} already: stop it, or choose another port, such as make run "
                f"LISTEN={host}:{port + 100} or ottla trucks --listen {host}:{port + 100}"
            )
        self._data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "ottla.cli.main", "broker", "--data", str(self._data / "broker")]
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C in the terminal is for us, and we stop the broker last.
            self._process = subprocess.Popen(
                [*command, "--listen", self.bootstrap, "--http", "off"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=_end_with_parent,
            )  # fmt: skip
        deadline = time.monotonic() + _START_SECONDS
        while not _listens(self._address):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise OttlaError(f"the broker did not start: {self._last_words()} (more in {self.log})")
            time.sleep(0.05)

    def check(self) -> None:
        """`OttlaError` if it has ended by itself: nothing goes on without it."""
        if self._process is not None and (code := self._process.poll()) is not None:
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            raise OttlaError(
                f"the broker ended in the middle ({how}); its log is {self.log}. The next run goes on from here."
            )

    def stop(self) -> None:
        """A clean stop."""
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _last_words(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"


def _end_with_parent() -> None:
    """In the child, before it becomes the broker: it is to be stopped when we die, even by kill -9 (Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _listens(address: tuple[str, int]) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(address) == 0
