"""The statuses of a connector and its tasks, from what is wanted and what its pipeline reports."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.connect.worker.config_record import Record, TargetState
from ottla.connect.worker.status_record import State, Status, StatusTable, connector_status, task_status

_OF_TARGET: Final = {
    TargetState.STARTED: State.RUNNING,
    TargetState.PAUSED: State.PAUSED,
    TargetState.STOPPED: State.STOPPED,
}
_OF_PIPELINE: Final = {"paused": State.PAUSED, "restarting": State.RESTARTING, "failed": State.FAILED}


@frozen
class Reporter:
    """The worker that writes statuses."""

    worker_id: str
    generation: int


@frozen
class Report:
    """The facts behind a connector's status: its target, its tasks, its failure, and its pipeline's report."""

    target: TargetState
    version: str | None
    task_count: int
    failure: str | None = None
    """The trace, if the connector itself could not be started."""
    spec: Mapping[str, Any] | None = None
    status: Mapping[str, Any] | None = None
    """What its pipeline reports."""


def connector_state(report: Report, reporter: Reporter) -> Status:
    """The connector's own status."""
    state = State.FAILED if report.failure is not None else _OF_TARGET[report.target]
    return Status(state, reporter.worker_id, reporter.generation, report.failure, report.version)


def task_states(report: Report, reporter: Reporter) -> list[Status]:
    """The status of each task.

    >>> part = {"id": 0, "state": "FAILED", "trace": "why"}
    >>> report = Report(TargetState.STARTED, None, 2, status={"state": "running", "parts": [part]})
    >>> [status.state.value for status in task_states(report, Reporter("w", 1))]
    ['FAILED', 'UNASSIGNED']
    """
    status = report.status or {}
    parts = {part.get("id"): part for part in status.get("parts") or () if isinstance(part, dict)}
    worker_id = _worker_id(str(status.get("control") or "")) or reporter.worker_id
    asked = (report.spec or {}).get("part_restarts") or {}
    states = (
        _task_state(report, parts.get(number) or {}, int(asked.get(str(number)) or 0))
        for number in range(report.task_count)
    )
    return [Status(state, worker_id, reporter.generation, trace, report.version) for state, trace in states]


def status_changes(name: str, connector: Status, tasks: Sequence[Status], table: StatusTable) -> list[Record]:
    """The records that bring the status topic up to date with a connector."""
    changes = []
    if _differs(table.connector(name), connector):
        changes.append(connector_status(name, connector))
    for number, status in enumerate(tasks):
        if _differs(table.task(name, number), status):
            changes.append(task_status(name, number, status))
    changes += [task_status(name, number, None) for number in table.tasks(name) if number >= len(tasks)]
    return changes


def removals(name: str, table: StatusTable) -> list[Record]:
    """The records that remove a connector."""
    return [connector_status(name, None), *(task_status(name, number, None) for number in table.tasks(name))]


def control_name(worker_id: str, suffix: str) -> str:
    """The name of the control process that runs beside a worker: statuses of pipelines tell it."""
    return f"{worker_id.replace(':', '_')}_{suffix}"


def _worker_id(control: str) -> str:
    host, _, rest = control.rpartition("_")[0].rpartition("_")
    return f"{host}:{rest}" if host and rest.isdecimal() else ""


def _differs(known: Status | None, now: Status) -> bool:
    if known is None:
        return True
    return (known.state, known.trace, known.worker_id, known.version) != (
        now.state, now.trace, now.worker_id, now.version,
    )  # fmt: skip


def _task_state(report: Report, part: Mapping[str, Any], restart: int) -> tuple[State, str | None]:
    status, spec = report.status or {}, report.spec or {}
    if report.target is TargetState.PAUSED:
        # Nothing runs: either the pipeline is paused, or it is about to be and its tasks with it.
        return (State.FAILED, _trace(part)) if part.get("state") == State.FAILED else (State.PAUSED, None)
    if not status:
        return State.UNASSIGNED, None
    if int(status.get("restart") or 0) < int(spec.get("restart") or 0):
        return State.RESTARTING, None
    if status.get("state") == "running":
        if part and int(part.get("restart") or 0) < restart:
            return State.RESTARTING, None
        said = part.get("state")
        state = State(said) if said in set(State) else State.UNASSIGNED
        return state, _trace(part) if state in (State.FAILED, State.RESTARTING) else None
    state = _OF_PIPELINE.get(str(status.get("state")), State.UNASSIGNED)
    if state in (State.FAILED, State.RESTARTING):
        return state, _trace(part) or _trace(status)
    return state, None


def _trace(found: Mapping[str, Any]) -> str | None:
    trace = found.get("trace")
    return None if trace is None else str(trace)
