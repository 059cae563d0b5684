"""Where one partition number of an application stands, as its group `application.id` says it.

The offsets are those of the inputs. The numbers that operators keep (stream times) and the clock's tick go into the
metadata of one of them: a state that is restored from changelogs has them, too, and a micro-batch that consists of
a tick alone is known to be written.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.frozen import frozen
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.host.kept_time import times_from_text, times_to_text
from ottla.streams.state.local_state import Position, Times

TICK: Final = "@tick"
"""The position's entry that counts the clock's ticks; no topic."""


@frozen
class GroupPosition:
    """The offsets of one partition number."""

    position: Position
    times: Times

    def offsets(self, partition: int) -> dict[TopicPartition, OffsetAndMetadata]:
        """The offsets to commit, with the times as metadata of the first."""
        tick = self.position.get(TICK)
        mark: Times = {} if tick is None else {TICK: {"": (tick,)}}
        metadata = times_to_text({**self.times, **mark}) or times_to_text(mark)
        found = {}
        for topic, offset in sorted(self.position.items()):
            if topic != TICK:
                found[TopicPartition(topic, partition)] = OffsetAndMetadata(offset, metadata)
                metadata = ""
        return found

    @classmethod
    def committed(cls, offsets: Mapping[str, tuple[int, str | None]]) -> "GroupPosition | None":
        """The position that the group's offsets and their metadata hold, by topic; None without offsets."""
        position = {topic: offset for topic, (offset, _) in offsets.items() if offset >= 0}
        if not position:
            return None
        text = next((metadata for _, metadata in offsets.values() if metadata), "")
        times = dict(times_from_text(text))
        tick = times.pop(TICK, None)
        return cls(position if tick is None else {**position, TICK: tick[""][0]}, times)

    def is_at(self, end: Position) -> bool:
        """Whether the group has all of a batch behind it."""
        return all(self.position.get(topic) == offset for topic, offset in end.items())
