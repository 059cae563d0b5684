"""Fetched data between the event loop, which puts it in, and the user's calls, which take it out.

The two may be two threads. Each side writes only its own counter, and the queue between them is a deque, whose two ends
need no lock. What went wrong travels in the same queue, so that records fetched before an error come out before it.
"""

from collections import deque
from typing import TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.consumer.fetch.completed_fetch import CompletedFetch
from ottla.client.consumer.subscription_state import PartitionState


@frozen
class FailedFetch:
    """A partition could not be read from its fetch position on, or nothing could, if there is no partition."""

    error: OttlaError
    state: PartitionState | None = None
    version: int = 0

    @property
    def is_current(self) -> bool:
        """Whether the partition is still read from there."""
        return self.state is None or self.state.version == self.version


Fetched: TypeAlias = CompletedFetch | FailedFetch


class FetchBuffer:
    """A queue that knows how many bytes it holds."""

    def __init__(self) -> None:
        self._waiting: deque[Fetched] = deque()
        self._parked: list[Fetched] = []
        self._put_bytes = 0
        self._taken_bytes = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def buffered_bytes(self) -> int:
        """The fetches that are in the buffer."""
        return self._put_bytes - self._taken_bytes

    def put(self, fetched: Fetched) -> None:
        """The event loop's side."""
        if isinstance(fetched, CompletedFetch):
            fetched.state.fetched_bytes += fetched.size
            self._put_bytes += fetched.size
        self._waiting.append(fetched)

    def head(self) -> Fetched | None:
        """The user's side: the first that is still of use. Data of paused partitions is set aside until `resume`."""
        waiting = self._waiting
        while waiting:
            first = waiting[0]
            if first.is_current and (first.state is None or first.state.is_deliverable):
                return first
            if first.is_current:
                self._parked.append(first)
                waiting.popleft()
            else:
                self.drop(first)
        return None

    def drop(self, fetched: Fetched) -> None:
        """The user's side: the head is used up, or useless."""
        self._waiting.popleft()
        self._count_out(fetched)

    def resume(self) -> None:
        """The user's side: what was set aside comes first again."""
        parked, self._parked = self._parked, []
        for fetched in reversed(parked):
            if fetched.is_current:
                self._waiting.appendleft(fetched)
            else:
                self._count_out(fetched)

    def _count_out(self, fetched: Fetched) -> None:
        if isinstance(fetched, CompletedFetch):
            fetched.state.taken_bytes += fetched.size
            self._taken_bytes += fetched.size
