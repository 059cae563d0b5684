"""A partition's name, and the names its directory can have.

`orders-7` is a live log; with a unique id and a suffix it is one on its way out (`orders-7.<uuid>-delete`), one being
moved to another disk (`-future`), or one that the cluster knows nothing of and that is kept aside (`-stray`).
"""

import enum
import re
from typing import Final, NamedTuple

from ottla.protocol.topic_partition import TopicPartition as TopicPartition

_DIRECTORY_NAME_BYTES_MAX: Final = 255
_SUFFIXED: Final = re.compile(r"(\S+-\S+)\.([^.\s]+)-(delete|future|stray)")


class DirectoryKind(enum.Enum):
    """The purpose of a partition's directory."""

    LIVE = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


class PartitionDirectory(NamedTuple):
    """The meaning of a directory's name."""

    topic_partition: TopicPartition
    kind: DirectoryKind


def parse_directory_name(name: str) -> PartitionDirectory | None:
    """The partition a directory is named after; None if the name is of no partition.

    >>> parse_directory_name("my-topic-12")
    PartitionDirectory(topic_partition=TopicPartition(topic='my-topic', partition=12), kind=<DirectoryKind.LIVE: ''>)
    >>> parse_directory_name("orders-7.0af3-delete").kind
    <DirectoryKind.DELETE: 'delete'>
    >>> parse_directory_name("orders-7-delete"), parse_directory_name("lost+found")
    (None, None)
    """
    kind = DirectoryKind.LIVE
    if name.endswith(("-delete", "-future", "-stray")):
        found = _SUFFIXED.fullmatch(name)
        if found is None:
            return None
        name, kind = found[1], DirectoryKind(found[3])
    topic, _, partition = name.rpartition("-")
    if not topic or not partition.isascii() or not partition.isdigit() or int(partition) >= 1 << 31:
        return None
    return PartitionDirectory(TopicPartition(topic, int(partition)), kind)


def directory_name(topic_partition: TopicPartition, kind: DirectoryKind, unique_id: str) -> str:
    """The name of the partition's directory; long topic names are cut so that the suffix fits a file name.

    >>> directory_name(TopicPartition("orders", 7), DirectoryKind.DELETE, "0af3")
    'orders-7.0af3-delete'
    """
    if kind is DirectoryKind.LIVE:
        return str(topic_partition)
    suffix = f"-{topic_partition.partition}.{unique_id}-{kind.value}"
    return topic_partition.topic[: _DIRECTORY_NAME_BYTES_MAX - len(suffix)] + suffix
