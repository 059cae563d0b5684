"""The commands of the supervision to the process around it."""

from collections.abc import Mapping

from ottla.base.frozen import frozen
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.status import PipelineStatus


@frozen
class StartRunner:
    """Start the processes of a runner. Ends in RunnerConnected or RunnerDied."""

    runner: str


@frozen
class StopRunner:
    """Tell a runner without queries to end. Ends in RunnerDied."""

    runner: str


@frozen
class KillRunner:
    """Kill all processes of a runner. Ends in RunnerDied."""

    runner: str
    reason: str


@frozen
class StartQuery:
    """Start the query of a pipeline. Ends in QueryStarted or QueryEnded."""

    runner: str
    run: int
    spec: PipelineSpec


@frozen
class StopQuery:
    """Stop a query between two micro-batches. Ends in QueryEnded."""

    runner: str
    name: str
    run: int


@frozen
class RestartParts:
    """Start parts of a running query again whose number is higher than before."""

    runner: str
    name: str
    run: int
    restarts: Mapping[str, int]


@frozen
class PublishStatus:
    """Write the status of a pipeline."""

    name: str
    status: PipelineStatus


@frozen
class ForgetPipeline:
    """Remove what is left of a deleted pipeline: its checkpoint and its status."""

    spec: PipelineSpec


Command = StartRunner | StopRunner | KillRunner | StartQuery | StopQuery | RestartParts | PublishStatus | ForgetPipeline
