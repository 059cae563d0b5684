"""All processes of a runner: its session, which they cannot leave unnoticed. Kills them, and knows when none is left.

The runner's log is open in each of them and locked by that, so that other control processes can see it, too.
"""

import asyncio
import fcntl
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_POLL_S: Final = 0.05
_LAST_BYTES: Final = 4_000


class ProcessTree:
    """Started once."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self.log: Final = log
        self._command: Final = command
        self._environment: Final = environment
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Starts the first process, as the head of a session of its own."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            # The lock belongs to what all children inherit: it is free when the last of them is gone.
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env=dict(self._environment),
            )  # fmt: skip
        self.log.with_suffix(".session").write_text(str(self._process.pid))

    async def wait(self) -> str:
        """Until all of them are gone: what the first one leaves behind is killed. How it ended, with its last words."""
        assert self._process is not None
        code = await self._process.wait()
        while members := session_members(self._process.pid):
            kill_all(members)
            await asyncio.sleep(_POLL_S)
        self.log.with_suffix(".session").unlink(missing_ok=True)
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"the runner ended ({how}); the end of its log {self.log}:\n{last_words(self.log)}"

    def kill(self) -> None:
        """Kills them; `wait` tells when they are gone."""
        if self._process is not None:
            kill_all(session_members(self._process.pid))


def session_members(session: int) -> list[int]:
    """The living processes of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            fields = (path / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] not in "ZX":
            found.append(int(path.name))
    return found


def kill_all(members: Sequence[int]) -> None:
    """SIGKILL for each that is still there."""
    for pid in members:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def last_words(log: Path) -> str:
    """The end of a log."""
    try:
        with log.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _LAST_BYTES, 0))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""
