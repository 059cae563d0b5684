"""The processes of tasks that this process has started."""

import os
from contextlib import suppress
from pathlib import Path


def processes() -> set[int]:
    """The processes of tasks that run now."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    for task in Path("/proc/self/task").iterdir():
        # A thread may end while it is looked at.
        with suppress(FileNotFoundError, ProcessLookupError):
            children += (task / "children").read_text().split()
    programs = {int(each): Path(f"/proc/{each}/cmdline") for each in children}
    return {number for number, path in programs.items() if path.exists() and b"connect.program" in path.read_bytes()}
