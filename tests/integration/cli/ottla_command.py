"""Runs `ottla` commands in this process, and as a user at a terminal would."""

import contextlib
import io
import json
import os
import pty
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest.mock import patch

from ottla.cli.main import main


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """What it printed, line by line."""
        return self.out.splitlines()

    @property
    def document(self) -> Any:
        """What it printed, as JSON."""
        assert self.code == 0, self.err
        return json.loads(self.out)


class Ottla:
    """`ottla` with a cluster."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Done:
        """Runs a command to its end."""
        out, err = io.StringIO(), io.StringIO()
        given = io.TextIOWrapper(io.BytesIO(stdin))
        with (
            patch.dict(os.environ, {"OTTLA_BOOTSTRAP": self.bootstrap}),
            patch.object(sys, "stdin", given),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                code = main(arguments)
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Done(code, out.getvalue(), err.getvalue())


class Terminal:
    """A command that runs in a terminal of its own."""

    def __init__(self, process: int, descriptor: int) -> None:
        self._process = process
        self._descriptor = descriptor
        self.seen = ""

    def wait_for(self, text: str) -> None:
        """Reads until the text was shown; fails if the command ends before."""
        while text not in self.seen:
            more = self._read()
            assert more, f"no {text!r} in {self.seen!r}"

    def type(self, keys: str) -> None:
        """What a user types."""
        os.write(self._descriptor, keys.encode())

    def wait(self) -> int:
        """Everything is read; the exit code."""
        while self._read():
            pass
        _, status = os.waitpid(self._process, 0)
        self._process = 0
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> str:
        try:
            more = os.read(self._descriptor, 65536).decode("utf-8", "replace")
        except OSError:  # how Linux says that the other end of a terminal is gone
            return ""
        self.seen += more
        return more

    def close(self) -> None:
        """Ends the command if it still runs."""
        if self._process:
            os.kill(self._process, 9)
            os.waitpid(self._process, 0)
        os.close(self._descriptor)


@contextlib.contextmanager
def terminal(bootstrap: str, *arguments: str, **environment: str) -> Iterator[Terminal]:
    """A command in a terminal, killed at the latest when the block ends."""
    given = {**os.environ, "OTTLA_BOOTSTRAP": bootstrap, "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "ottla.cli.main", *arguments]
    parent, child = pty.openpty()
    # Opened by the leader of a new session it becomes that session's terminal, from which Ctrl-C comes.
    opened = (os.POSIX_SPAWN_OPEN, 0, os.ttyname(child), os.O_RDWR, 0)
    process = os.posix_spawn(
        sys.executable,
        command,
        given,
        file_actions=[opened, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)],
        setsid=True,
    )
    os.close(child)
    session = Terminal(process, parent)
    try:
        yield session
    finally:
        session.close()
