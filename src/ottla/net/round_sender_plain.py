"""Sends the answers of a round: each connection's small answer, and which of them did not go whole.

    add … add ─▶ start ─▶ (the next round is served meanwhile) ─▶ finish ─▶ what is left to do

The compiled twin shares the work with a thread of its own, without the interpreter's lock: the system takes longer to
send a small answer than we take to make one. Each connection has one answer at most between two calls of `finish`, so
the order in which different ones leave does not matter. This one sends by itself.
"""

import os
from typing import Any

Unsent = tuple[Any, bytes, int, int]
"""To whom, what, how many bytes of it went, and the error's number or 0; a full socket is none."""


class RoundSender:
    """Collects, sends, tells. Loop thread only."""

    def __init__(self) -> None:
        self._jobs: list[tuple[Any, int, bytes]] = []

    def add(self, owner: Any, fd: int, data: bytes) -> None:
        """One more to send; `owner` is given back if it does not go whole."""
        self._jobs.append((owner, fd, data))

    def start(self) -> bool:
        """Begins to send; nothing is added before `finish`. False if no thread works meanwhile: then call that now."""
        return False

    def finish(self) -> list[Unsent]:
        """Returns when all that was added has been tried, with those that did not go whole."""
        jobs, self._jobs = self._jobs, []
        unsent: list[Unsent] = []
        for owner, fd, data in jobs:
            sent = error = 0
            try:
                sent = os.write(fd, data)
            except BlockingIOError:
                pass
            except OSError as problem:
                error = problem.errno or 0
            if sent < len(data):
                unsent.append((owner, data, sent, error))
        return unsent

    def close(self) -> None:
        """Ends what works in the background; nothing may be on its way."""
