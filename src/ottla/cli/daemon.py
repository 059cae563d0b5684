"""`-daemon`: a tool that goes on behind the shell, its output in a file in `$LOG_DIR`, or in `./logs`."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

DAEMON: Final = "-daemon"


def split_daemon(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether `-daemon` comes first, and the arguments behind it.

    >>> split_daemon(["-daemon", "server.properties"])
    (True, ['server.properties'])
    """
    is_daemon = list(arguments[:1]) == [DAEMON]
    return is_daemon, list(arguments[is_daemon:])


def detach(tool: str, module: str, arguments: Sequence[str], output: str) -> int:
    """Starts the module in a session of its own; the exit code of `tool`, which is done with that."""
    path = Path(os.environ.get("LOG_DIR", "logs")) / output
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:
        print(f"{tool}: {path}: {error.strerror}", file=sys.stderr)
        return 1
    return 0
