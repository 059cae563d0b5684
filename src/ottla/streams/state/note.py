"""Small files beside the state: what an application looked like when it last started.

A note is whole or not there: a full disk, or a process that is killed, leaves the one before.
"""

import contextlib
import os
from pathlib import Path

from ottla.streams.state.errors import unwritable


def write_note(path: Path, text: str) -> None:
    """Writes a note that says something else than before; `StateUnwritableError` if there is no room."""
    with contextlib.suppress(OSError):
        if path.read_text() == text:
            return
    fresh = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(text)
        os.replace(fresh, path)
    except OSError as error:
        raise unwritable(error, str(path)) from error
