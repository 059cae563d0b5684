"""Which process of an application this is: an id that outlives a restart on the same state directory.

It names the producer's transactions, so that a process that was killed ends what it left open as soon as it is back.
A second process on the same directory gets an id of its own.
"""

import contextlib
import fcntl
import json
import os
import uuid
from pathlib import Path
from typing import Final, Self

_FILE: Final = "process"


class ProcessIdentity:
    """The id, and the lock on it."""

    def __init__(self, state_dir: Path) -> None:
        state_dir.mkdir(parents=True, exist_ok=True)
        self._descriptor: int | None = os.open(state_dir / _FILE, os.O_CREAT | os.O_RDWR, 0o644)
        self.id = str(uuid.uuid4())
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            return
        kept = os.read(self._descriptor, 4_096)
        with contextlib.suppress(ValueError, KeyError, TypeError):
            self.id = str(uuid.UUID(json.loads(kept)["processId"]))
            return
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps({"processId": self.id}).encode(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets another process have the id."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
