"""Log directories whose disk is slow: what is appended there is written when a test says so."""

from collections import deque
from collections.abc import Callable

from tests.unit.replication.broker_under_test import BrokerUnderTest


class SlowDisk:
    """One directory of a broker. Its thread writes when it is told to, and tells the loop."""

    def __init__(self, broker: BrokerUnderTest, path: str = "/data") -> None:
        self._home = broker.logs.directories.named(path)
        self._jobs: deque[Callable[[], None]] = deque()
        self._home.appends.start(self._jobs.append, broker.loop.call_soon)
        self.become(is_slow=True)

    def become(self, *, is_slow: bool) -> None:
        """The disk is slow from now on, or well."""
        self._home.pace.is_always_slow = self._home.pace.is_slow = is_slow
        self._home.look_after()

    @property
    def is_asked(self) -> bool:
        """Whether anything waits to be written."""
        return bool(self._jobs)

    def write(self) -> None:
        """Writes all that waits; the loop hears of it with its next turn."""
        while self._jobs:
            self._jobs.popleft()()
