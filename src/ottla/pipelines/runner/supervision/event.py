"""The events of pipelines and runners. Each is told once, in the order in which it was seen."""

from collections.abc import Mapping, Sequence
from typing import Any

from ottla.base.frozen import frozen
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.status import PipelineStatus


@frozen
class PipelineGained:
    """This control process looks after the pipeline from now on; `last` is what its predecessor wrote."""

    spec: PipelineSpec
    last: PipelineStatus | None = None


@frozen
class RemainsFound:
    """This control process looks after a pipeline that was deleted while no other one did: `last` is left of it."""

    name: str
    last: PipelineStatus


@frozen
class SpecChanged:
    """A user wants something else of a pipeline that is looked after here, or a new one."""

    spec: PipelineSpec


@frozen
class SpecDeleted:
    """A user wants the pipeline gone."""

    name: str


@frozen
class PipelineRevoked:
    """Another control process will look after it, as soon as it has ended here."""

    name: str


@frozen
class PipelineLost:
    """Another control process may look after it already: this one was believed dead."""

    name: str


@frozen
class StatusOverwritten:
    """Another control process wrote a status, late, of a pipeline that is looked after here."""

    name: str


@frozen
class RunnerConnected:
    """A runner is up and takes commands."""

    runner: str


@frozen
class RunnerHeard:
    """A runner gave a sign of life."""

    runner: str


@frozen
class RunnerDied:
    """No process of the runner is left; never told before that."""

    runner: str
    reason: str


@frozen
class QueryStarted:
    """The query of a pipeline is up: its source has answered."""

    runner: str
    name: str
    run: int


@frozen
class QueryProgressed:
    """A micro-batch has ended."""

    runner: str
    name: str
    run: int
    progress: Mapping[str, Any]
    parts: Sequence[Mapping[str, Any]] = ()


@frozen
class QueryEnded:
    """The query of a pipeline is no more, and holds its checkpoint no longer."""

    runner: str
    name: str
    run: int
    trace: str | None = None
    """Why it failed; None if it was stopped."""
    is_permanent: bool = False
    """Whether it would fail the same way again: what it is asked to do makes no sense."""
    is_busy: bool = False
    """Whether it never began: another runner holds the checkpoint."""


@frozen
class TimePassed:
    """Nothing else happened for a while."""


Event = (
    PipelineGained
    | RemainsFound
    | SpecChanged
    | SpecDeleted
    | PipelineRevoked
    | PipelineLost
    | StatusOverwritten
    | RunnerConnected
    | RunnerHeard
    | RunnerDied
    | QueryStarted
    | QueryProgressed
    | QueryEnded
    | TimePassed
)
