"""The hash of the topics that a group is subscribed to (KIP-1101): if it changes, the group rebalances.

Over a topic: a zero byte, its id, its name, the number of partitions, and each partition's number with the racks of
its replicas. Over a group: the hashes of its topics in the order of their names. Strings are hashed as UTF-16 and
followed by their length, numbers as little-endian. Hashes of topics are kept until the topic changes.
"""

import struct
from collections.abc import Iterable
from typing import Final

from ottla.coordinator.group.consumer.assignment.xxh3 import xxh3_64
from ottla.coordinator.ports import MetadataView, TopicView

_SIGN_BIT: Final = 1 << 63
_TOPIC_MAGIC: Final = b"\0"


class TopicHashes:
    """Hashes of topics and of sets of topics, as they are in the newest metadata."""

    def __init__(self, metadata: MetadataView) -> None:
        self._metadata: Final = metadata
        self._hashes: dict[str, tuple[TopicView, int]] = {}

    def forget(self, names: frozenset[str]) -> None:
        """These topics changed. Each shard says so, and most of the names are of no interest to groups."""
        for name in self._hashes.keys() & names:
            del self._hashes[name]

    def clear(self) -> None:
        """Anything may have changed."""
        self._hashes.clear()

    def of_group(self, names: Iterable[str]) -> int:
        """The hash of those of the topics that exist; 0 if none does."""
        hashes = [found for name in sorted(names) if (found := self._of_topic(name)) is not None]
        return _signed(xxh3_64(struct.pack(f"<{len(hashes)}q", *hashes))) if hashes else 0

    def _of_topic(self, name: str) -> int | None:
        topic = self._metadata.topic(name)
        if topic is None:
            return None
        known = self._hashes.get(name)
        if known is None or known[0] != topic:
            racks = [self._metadata.partition_racks(name, index) for index in range(topic.partition_count)]
            known = self._hashes[name] = (topic, topic_hash(topic, racks))
        return known[1]


def topic_hash(topic: TopicView, racks: Iterable[Iterable[str]]) -> int:
    """The hash of a topic whose partitions are on these racks."""
    parts = [_TOPIC_MAGIC, topic.id[7::-1], topic.id[:7:-1], _string(topic.name), _int(topic.partition_count)]
    for index, partition_racks in enumerate(racks):
        parts.append(_int(index))
        for rack in sorted(partition_racks):
            parts += (_int(_length(rack)), _string(rack))
    return _signed(xxh3_64(b"".join(parts)))


def _string(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass") + _int(_length(text))


def _length(text: str) -> int:
    """The length in UTF-16 units, as Java counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def _int(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _signed(value: int) -> int:
    return value - (1 << 64) if value & _SIGN_BIT else value
