"""A log directory's thread for appends that works when a test says so."""

from collections import deque
from collections.abc import Callable

from ottla.storage.append_queue import AppendQueue
from ottla.storage.disk.pace import DiskPace
from ottla.storage.log.log import Log


class Thread:
    """The thread of a directory: it runs when it is told to, and so does the loop with what it has done."""

    def __init__(self) -> None:
        self.queue = AppendQueue("/data", DiskPace(is_timed=False))
        self.jobs: deque[Callable[[], None]] = deque()
        self.posted: deque[Callable[[], None]] = deque()
        self.queue.start(self.jobs.append, self.posted.append)

    def defer(self, log: Log) -> Log:
        log.appends, log.is_deferring = self.queue, True
        return log

    def write(self) -> None:
        while self.jobs:
            self.jobs.popleft()()

    def tell(self) -> None:
        while self.posted:
            self.posted.popleft()()

    def run(self) -> None:
        self.write()
        self.tell()
