"""Which member of an application runs which task: balanced, and where the state is already, as far as balance allows.

A task runs where it ran before; else where its state lies; else where least is to be done. Tasks with state are
spread evenly, and then all tasks. Standby copies of a state go to members that do not run its task.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


class TaskId(NamedTuple):
    """A task: sub-topology and partition.

    >>> str(TaskId.parse("1_12"))
    '1_12'
    """

    stage: int
    partition: int

    @classmethod
    def parse(cls, text: str) -> "TaskId":
        """From its text."""
        stage, partition = text.split("_")
        return cls(int(stage), int(partition))

    def __str__(self) -> str:
        return f"{self.stage}_{self.partition}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A member's tasks before an assignment: those that it runs, and those whose state is on its disk."""

    running: frozenset[TaskId] = frozenset()
    stored: frozenset[TaskId] = frozenset()


@dataclass(slots=True)
class Share:
    """A member's tasks after an assignment."""

    active: list[TaskId] = field(default_factory=list)
    standby: list[TaskId] = field(default_factory=list)

    @property
    def load(self) -> int:
        """The number of tasks, active and standby."""
        return len(self.active) + len(self.standby)


def shared(tasks: Mapping[TaskId, bool], claims: Mapping[str, Claim], standby_replicas: int = 0) -> dict[str, Share]:
    """The shares by member; `tasks` says of each whether it has state that can be restored.

    >>> tasks = {TaskId(0, p): True for p in range(3)}
    >>> found = shared(tasks, {"a": Claim(running=frozenset(tasks)), "b": Claim()}, 1)
    >>> {member: [str(task) for task in share.active] for member, share in found.items()}
    {'a': ['0_0', '0_1'], 'b': ['0_2']}
    >>> {member: [str(task) for task in share.standby] for member, share in found.items()}
    {'a': ['0_2'], 'b': ['0_0', '0_1']}
    """
    shares = {member: Share() for member in sorted(claims)}
    if not shares:
        return {}
    stateful = sorted(task for task, has_state in tasks.items() if has_state)
    stateless = sorted(task for task, has_state in tasks.items() if not has_state)
    for group in (stateful, stateless):
        _spread(group, claims, shares)
    for _ in range(min(standby_replicas, len(shares) - 1)):
        for task in stateful:
            _add_standby(task, claims, shares)
    for share in shares.values():
        share.active.sort()
    return shares


def _spread(group: Sequence[TaskId], claims: Mapping[str, Claim], shares: dict[str, Share]) -> None:
    """Gives each task of a group to a member; all members end with about as many active tasks."""
    whole = len(group) + sum(len(share.active) for share in shares.values())
    low, more = divmod(whole, len(shares))
    rooms = _Rooms(shares, low, more)
    open_tasks = []
    for task in group:
        owner = next((member for member, claim in claims.items() if task in claim.running), None)
        if owner is None or not rooms.take(owner, task):
            open_tasks.append(task)
    left = []
    for task in open_tasks:
        holders = [member for member, claim in claims.items() if task in claim.stored]
        if not any(rooms.take(member, task) for member in _by_load(holders, shares)):
            left.append(task)
    for task in left:
        next(member for member in _by_load(shares, shares) if rooms.take(member, task))


class _Rooms:
    """Bounds the active tasks of each member: `low` each, and one more for some of them."""

    def __init__(self, shares: dict[str, Share], low: int, more: int) -> None:
        self._shares = shares
        self._low = low
        self._more = more - sum(len(share.active) > low for share in shares.values())

    def take(self, member: str, task: TaskId) -> bool:
        """Gives the task to the member if it has room."""
        active = self._shares[member].active
        if len(active) > self._low or (len(active) == self._low and self._more <= 0):
            return False
        if len(active) == self._low:
            self._more -= 1
        active.append(task)
        return True


def _add_standby(task: TaskId, claims: Mapping[str, Claim], shares: dict[str, Share]) -> None:
    free = [member for member, share in shares.items() if task not in share.active and task not in share.standby]
    if free:
        chosen = min(free, key=lambda member: (task not in claims[member].stored, shares[member].load, member))
        shares[chosen].standby.append(task)


def _by_load(members: Iterable[str], shares: Mapping[str, Share]) -> list[str]:
    return sorted(members, key=lambda member: (shares[member].load, member))


def without_moving(shares: Mapping[str, Share], running: Mapping[str, Collection[TaskId]]) -> dict[str, list[TaskId]]:
    """The active tasks that can be given out now: what another member still runs is given out once it has let go."""
    owners = {task: member for member, tasks in running.items() for task in tasks}
    return {
        member: [task for task in share.active if owners.get(task, member) == member]
        for member, share in shares.items()
    }
