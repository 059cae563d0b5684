"""The last row of a task: where its inputs stand after the batch, for the sink to commit with the rows before it.

It is a row like the others but for its topic, which no topic can be called. The offsets go to the group
`application.id`; the numbers that operators keep (stream times) go into the metadata of one of them, so that a state
that is restored from changelogs has them, too.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow.compute as pc

from ottla.base.frozen import frozen
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.host.kept_time import times_to_text
from ottla.streams.state.local_state import Position, Times

POSITION: Final = "/position"
TICK: Final = "@tick"
"""The position's entry that counts the clock's ticks; no topic."""


@frozen
class GroupPosition:
    """The offsets of one partition number of an application."""

    group_id: str
    partition: int
    position: Position
    times: Times

    def encoded(self) -> bytes:
        """As the value of a row."""
        return json.dumps([self.group_id, self.partition, self.position, self.times]).encode()

    @classmethod
    def decoded(cls, data: bytes) -> "GroupPosition":
        """The position that a row's value means."""
        return cls(*json.loads(data))

    def offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """What to commit."""
        metadata = times_to_text(self.times)
        found = {}
        for topic, offset in sorted(self.position.items()):
            if topic != TICK:
                found[TopicPartition(topic, self.partition)] = OffsetAndMetadata(offset, metadata)
                metadata = ""
        return found


class PositionedRows:
    """The rows of a task without the last one; `position` is there when all are read."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches: Final = batches
        self.position: GroupPosition | None = None

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            count = batch.num_rows
            topics = batch.column(batch.schema.get_field_index("topic"))
            if count and pc.equal(topics[count - 1], POSITION).as_py():
                value = batch.column(batch.schema.get_field_index("value"))[count - 1].as_py()
                self.position = GroupPosition.decoded(value)
                batch = batch.slice(0, count - 1)
            yield batch
