"""Which partition of an internal topic a group or a transactional id belongs to.

Every broker and every Kafka node must agree on this: it is the absolute value of Java's hash of the string, modulo
the number of partitions. (Not the hash with its sign bit cleared, which is another number for every second id.)
"""

from functools import lru_cache
from struct import unpack


@lru_cache(maxsize=16_384)
def partition_for(coordinator_id: str, partition_count: int) -> int:
    """The partition of a group id or a transactional id.

    >>> partition_for("orders", 50)
    31
    """
    return abs(java_hash(coordinator_id)) % partition_count if partition_count > 0 else 0


def java_hash(text: str) -> int:
    """`String.hashCode` of Java: 31-based over UTF-16 units, wrapped to 32 bits; its least value counts as 0.

    >>> java_hash("hello"), java_hash("orders")
    (99162322, -1008770331)
    """
    units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for unit in unpack(f">{len(units) // 2}H", units):
        value = (31 * value + unit) & 0xFFFFFFFF
    signed = value - (1 << 32) if value & 0x80000000 else value
    # Java cannot negate its least int, and Kafka takes it for 0.
    return 0 if signed == -(1 << 31) else signed
