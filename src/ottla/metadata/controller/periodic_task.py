"""The periodic tasks of the active controller."""

from collections.abc import Callable, Iterable
from typing import Final

from ottla.base.frozen import frozen
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.controller.resource.delegation_token import sweep_expired_tokens
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.controller.topic.leader_election import balance_leaders, elect_unclean_leaders
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import NoOpRecord

MORE_TO_DO_DELAY_MS: Final = 10
"""The pause before a task that did not get done goes on: requests get their turn between."""


@frozen
class PeriodicTask:
    """`run` returns records, and whether there is more to do."""

    name: str
    period_ms: int
    run: Callable[[ControllerContext], ControllerResult[bool]]


def write_no_op(context: ControllerContext) -> ControllerResult[bool]:
    """A record that changes nothing, so that who reads the log can tell an idle controller from a lost one."""
    return ControllerResult(False, [VersionedRecord(NoOpRecord(), 0)])


def periodic_tasks(settings: ControllerSettings) -> list[PeriodicTask]:
    """The tasks that the settings ask for. Stale brokers are fenced apart from these, by their sessions."""
    tasks = [
        PeriodicTask("electUnclean", settings.unclean_leader_election_interval_ms, elect_unclean_leaders),
        PeriodicTask(
            "expireDelegationTokens", settings.delegation_token_expiry_check_interval_ms, sweep_expired_tokens
        ),
    ]
    if settings.auto_leader_rebalance_enable:
        tasks.append(PeriodicTask("electPreferred", settings.leader_imbalance_check_interval_ms, balance_leaders))
    if settings.metadata_max_idle_interval_ms > 0:
        tasks.append(PeriodicTask("writeNoOpRecord", settings.metadata_max_idle_interval_ms, write_no_op))
    return tasks


class Schedule:
    """The times at which tasks are due."""

    def __init__(self, tasks: Iterable[PeriodicTask], now_ms: int) -> None:
        self._due = {task.name: (now_ms + task.period_ms, task) for task in tasks}

    @property
    def next_ms(self) -> int:
        """The time at which the first task is due."""
        return min(due_ms for due_ms, _ in self._due.values())

    def due(self, now_ms: int) -> list[PeriodicTask]:
        """The tasks whose time has come, longest due first."""
        waiting = sorted((due_ms, name) for name, (due_ms, _) in self._due.items() if due_ms <= now_ms)
        return [self._due[name][1] for _, name in waiting]

    def ran(self, task: PeriodicTask, now_ms: int, *, more_to_do: bool) -> None:
        """Plans the next run of a task."""
        delay_ms = min(MORE_TO_DO_DELAY_MS, task.period_ms) if more_to_do else task.period_ms
        self._due[task.name] = (now_ms + delay_ms, task)
