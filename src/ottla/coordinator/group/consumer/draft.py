"""One operation on a consumer group in the making.

Each record is replayed into the draft's own group as soon as it is decided on, so that what is decided next sees it;
groups are immutable, and nothing happens to the shard until the operation is done.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from ottla.coordinator.group.classic.result_builder import ResultBuilder
from ottla.coordinator.group.consumer.group import ConsumerGroup
from ottla.coordinator.group.consumer.replay import replay_part
from ottla.coordinator.runtime.coordinator_result import CoordinatorResult
from ottla.protocol.coordinator_record import CoordinatorRecord


class Draft:
    """The group so far, and the records that made it so."""

    __slots__ = ("_later", "group", "group_id", "now_ms", "result")

    def __init__(self, group_id: str, group: ConsumerGroup, result: ResultBuilder) -> None:
        """`result` may hold records already: those that made room for the group."""
        self.group_id: Final = group_id
        self.group = group
        self.result: Final = result
        self.now_ms: Final = result.now_ms
        self._later: list[Callable[[], None]] = []

    def write(self, record: CoordinatorRecord) -> None:
        """Decides on a record."""
        self.result.records.append(record)
        self.group = replay_part(self.group, record)

    def write_all(self, records: Iterable[CoordinatorRecord]) -> None:
        """Decides on several."""
        for record in records:
            self.write(record)

    def later(self, action: Callable[[], None]) -> None:
        """Changes soft state when the operation is decided, and not if it is refused on the way."""
        self._later.append(action)

    def outcome(self, response: Any = None) -> CoordinatorResult:
        """All of it, with the answer."""
        for action in self._later:
            action()
        return self.result.build(response)
