"""The hash of keys, by whichever twin is installed; `murmur2_plain` documents it.

>>> partition_of_key(b"customer-7", 6)
1
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load
from ottla.base.buffer import Buffer

if TYPE_CHECKING:
    from ottla.client.producer.partitioner.murmur2_plain import key_partitions, murmur2
else:
    _twin = load("ottla.client.producer.partitioner._murmur2", "ottla.client.producer.partitioner.murmur2_plain")
    key_partitions = _twin.key_partitions
    murmur2 = _twin.murmur2

__all__ = ["key_partitions", "murmur2", "partition_of_key"]


def partition_of_key(key: Buffer, partitions: int) -> int:
    """The partition that Kafka's clients put this key into; the hash's sign bit is dropped, as Java's client does."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
