"""Which keys change their partition when a topic gets more of them. Pure.

A key's partition is its hash modulo the number of partitions, so a change of that number sends most keys elsewhere:
3 → 6 keeps half of them, 3 → 4 a quarter.
"""

from math import lcm


def moved_share(before: int, after: int) -> float:
    """The part of all keys that changes its partition.

    >>> moved_share(3, 6), moved_share(3, 4), moved_share(5, 5)
    (0.5, 0.75, 0.0)
    """
    # In each stretch of lcm(before, after) hashes one for each remainder below both stays.
    return 1 - min(before, after) / lcm(before, after)
