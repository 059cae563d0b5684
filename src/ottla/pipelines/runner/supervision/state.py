"""The supervision's state of a pipeline and of a runner."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ottla.pipelines.runner.spec import PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State


class Phase(enum.Enum):
    """The phases of a pipeline."""

    RESTING = enum.auto()
    """It is not to run."""
    WAITING = enum.auto()
    """It is to run, from `due_ms` on; no runner has it."""
    PLACED = enum.auto()
    """It waits for its turn in a runner."""
    STARTING = enum.auto()
    RUNNING = enum.auto()
    STOPPING = enum.auto()
    FAILED = enum.auto()
    """It was given up."""


HOSTED = frozenset({Phase.STARTING, Phase.RUNNING, Phase.STOPPING})
"""Phases in which a runner may have the checkpoint open."""


class Leaving(enum.Enum):
    """Why a pipeline is no longer ours as soon as it has ended."""

    NO = enum.auto()
    DELETED = enum.auto()
    REVOKED = enum.auto()
    LOST = enum.auto()


@dataclass(slots=True)
class Pipeline:
    """One pipeline that is looked after here."""

    spec: PipelineSpec
    phase: Phase = Phase.WAITING
    leaving: Leaving = Leaving.NO
    due_ms: int = 0
    """When to go on: in WAITING the next attempt, in STARTING and STOPPING the end of patience."""
    busy_until_ms: int = 0
    """Until when a runner of another control process may have the checkpoint."""
    runner: str | None = None
    run: int = 0
    """The attempt that the runner has, or had last."""
    started: tuple[int, int] = (-1, -1)
    """The version and restart of that attempt."""
    part_restarts: Mapping[str, int] = field(default_factory=dict)
    """The restarts of parts that this attempt was told of."""
    came_up: bool = False
    """Whether that attempt has got beyond its start."""
    failures: int = 0
    failed_ms: int = 0
    trace: str | None = None
    progress: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Mapping[str, Any]] = ()
    told_ms: int = 0
    told: PipelineStatus | None = None

    @property
    def order(self) -> tuple[int, int]:
        """The version and restart of the spec; an attempt with other ones is outdated."""
        return self.spec.version, self.spec.restart

    @property
    def should_run(self) -> bool:
        """Whether a query is to run here."""
        return self.leaving is Leaving.NO and self.spec.wanted is Wanted.RUNNING

    @property
    def is_outdated(self) -> bool:
        """Whether its attempt was started for an earlier spec."""
        return self.started != self.order

    @property
    def occupies_start(self) -> bool:
        """Whether its runner is busy with its start, even if that is to be stopped again."""
        return self.phase in {Phase.STARTING, Phase.STOPPING} and not self.came_up

    @property
    def state(self) -> State:
        """The status for users."""
        if self.phase is Phase.RESTING:
            return State.PAUSED if self.spec.wanted is Wanted.PAUSED else State.STOPPED
        if self.phase in {Phase.WAITING, Phase.PLACED}:
            return State.RESTARTING if self.trace is not None else State.UNASSIGNED
        if self.phase is Phase.FAILED:
            return State.FAILED
        return State.STARTING if self.phase is Phase.STARTING else State.RUNNING


class RunnerPhase(enum.Enum):
    """The phases of a runner."""

    STARTING = enum.auto()
    UP = enum.auto()
    STOPPING = enum.auto()
    KILLED = enum.auto()


@dataclass(slots=True)
class Runner:
    """One runner that was started here."""

    name: str
    owner: str | None
    """The pipeline that has it alone; None if it is shared."""
    due_ms: int
    """The end of patience: for its connection, or for its end."""
    phase: RunnerPhase = RunnerPhase.STARTING
    heard_ms: int = 0
    busy_ms: int = 0
    """When it last had a pipeline."""
    pipelines: set[str] = field(default_factory=set)

    @property
    def takes_work(self) -> bool:
        """Whether pipelines may be placed in it."""
        return self.phase in {RunnerPhase.STARTING, RunnerPhase.UP}
