"""Maximum matching in a bipartite graph: the most pairs that two sides can form, each member in one at most."""


def matching_size(partners: list[list[int]], size: int) -> int:
    """The size of a maximum matching; `partners` lists the possible partners of each on the left side.

    >>> matching_size([[0, 1], [0]], 2), matching_size([[0], [0]], 2)
    (2, 1)
    """
    left_of: list[int | None] = [None] * size
    return sum(_augment(start, partners, left_of) for start in range(len(partners)))


def _augment(start: int, partners: list[list[int]], left_of: list[int | None]) -> bool:
    """Pairs `start`, moving others to second choices where that makes room; breadth first, so without recursion."""
    came_from: dict[int, int] = {}
    waiting = [start]
    for left in waiting:
        for right in partners[left]:
            if right in came_from:
                continue
            came_from[right] = left
            holder = left_of[right]
            if holder is not None:
                waiting.append(holder)
                continue
            free: int | None = right
            while free is not None:
                taker = came_from[free]
                freed = left_of.index(taker) if taker in left_of else None
                left_of[free], free = taker, freed
                if taker == start:
                    break
            return True
    return False
