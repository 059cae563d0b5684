"""The supervision of one control process: events in, commands out, at the time that each call is given.

Invariants:
- A query is started only when the last attempt at the same pipeline is known to have ended, or its runner to be dead.
- A runner starts one query at a time.
- Nothing is started for a pipeline that is not wanted running, or that another control process looks after.
- Whatever happens, each pipeline is on its way to the state that is wanted: every wait has an end.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from ottla.pipelines.runner.spec import Isolation, PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State
from ottla.pipelines.runner.supervision import event as e
from ottla.pipelines.runner.supervision.backoff import delay_ms
from ottla.pipelines.runner.supervision.command import (
    Command,
    ForgetPipeline,
    KillRunner,
    PublishStatus,
    RestartParts,
    StartQuery,
    StartRunner,
    StopQuery,
    StopRunner,
)
from ottla.pipelines.runner.supervision.option import SupervisionOptions
from ottla.pipelines.runner.supervision.state import HOSTED, Leaving, Phase, Pipeline, Runner, RunnerPhase

_RUNNERS: Final = "\0runners"


class Supervision:
    """The state machine."""

    def __init__(self, control: str, options: SupervisionOptions | None = None) -> None:
        """`control` is this control process; names of runners begin with it."""
        self.pipelines: Final[dict[str, Pipeline]] = {}
        self.runners: Final[dict[str, Runner]] = {}
        self._control: Final = control
        self._options: Final = options or SupervisionOptions()
        self._commands: list[Command] = []
        self._now_ms = 0
        self._numbers = 0
        self._deaths = 0
        """Runners in a row that died young."""
        self._next_runner_ms = 0
        self._handlers: Final[Mapping[type, Callable[[Any], None]]] = {
            e.PipelineGained: self._gained,
            e.RemainsFound: self._remains,
            e.SpecChanged: self._changed,
            e.SpecDeleted: lambda told: self._leave(told.name, Leaving.DELETED),
            e.PipelineRevoked: lambda told: self._leave(told.name, Leaving.REVOKED),
            e.PipelineLost: lambda told: self._leave(told.name, Leaving.LOST),
            e.StatusOverwritten: self._overwritten,
            e.RunnerConnected: self._connected,
            e.RunnerHeard: self._heard,
            e.RunnerDied: self._died,
            e.QueryStarted: self._query_started,
            e.QueryProgressed: self._query_progressed,
            e.QueryEnded: self._query_ended,
            e.TimePassed: lambda _: None,
        }

    def apply(self, told: e.Event, now_ms: int) -> list[Command]:
        """The commands after an event."""
        self._now_ms, self._commands = now_ms, []
        self._handlers[type(told)](told)
        if not isinstance(told, (e.RunnerHeard, e.QueryProgressed)):
            for runner in list(self.runners.values()):
                self._check_runner(runner)
            for pipeline in list(self.pipelines.values()):
                self._advance(pipeline)
        return self._commands

    def hosted(self) -> frozenset[str]:
        """The pipelines whose checkpoint a runner may have open."""
        return frozenset(name for name, pipeline in self.pipelines.items() if pipeline.phase in HOSTED)

    # What has happened

    def _gained(self, told: e.PipelineGained) -> None:
        kept = self.pipelines.get(told.spec.name)
        if kept is not None:
            # It left and came back before it had ended.
            kept.spec, kept.leaving = told.spec, Leaving.NO
            return
        last = told.last
        pipeline = self.pipelines[told.spec.name] = Pipeline(told.spec, busy_until_ms=self._busy_until(last))
        if last is not None and last.state is State.FAILED and (last.version, last.restart) == pipeline.order:
            pipeline.phase, pipeline.started = Phase.FAILED, pipeline.order
            pipeline.trace, pipeline.failures = last.trace, last.failures

    def _remains(self, told: e.RemainsFound) -> None:
        if told.name not in self.pipelines:
            spec = PipelineSpec(name=told.name, kind="", wanted=Wanted.STOPPED)
            self.pipelines[told.name] = Pipeline(spec, busy_until_ms=self._busy_until(told.last))
        self._leave(told.name, Leaving.DELETED)

    def _busy_until(self, last: PipelineStatus | None) -> int:
        """Until when the runner of another control process may have the checkpoint, by what that process wrote."""
        if last is None:
            return 0
        is_abandoned = last.control not in {"", self._control}
        return self._now_ms + self._options.takeover_ms if is_abandoned else last.busy_until_ms

    def _changed(self, told: e.SpecChanged) -> None:
        pipeline = self.pipelines.get(told.spec.name)
        if pipeline is None:
            self.pipelines[told.spec.name] = Pipeline(told.spec, due_ms=self._now_ms)
            return
        if pipeline.leaving is Leaving.DELETED:
            pipeline.leaving = Leaving.NO
        has_new_order = (told.spec.version, told.spec.restart) != pipeline.order
        pipeline.spec = told.spec
        if has_new_order and pipeline.phase is Phase.WAITING and pipeline.trace is not None:
            pipeline.due_ms = self._now_ms

    def _leave(self, name: str, why: Leaving) -> None:
        if name in self.pipelines:
            self.pipelines[name].leaving = why

    def _overwritten(self, told: e.StatusOverwritten) -> None:
        if told.name in self.pipelines:
            self.pipelines[told.name].told = None

    def _connected(self, told: e.RunnerConnected) -> None:
        runner = self.runners.get(told.runner)
        if runner is not None and runner.phase is RunnerPhase.STARTING:
            runner.phase, runner.heard_ms, runner.busy_ms = RunnerPhase.UP, self._now_ms, self._now_ms
            self._deaths = 0

    def _heard(self, told: e.RunnerHeard) -> None:
        runner = self.runners.get(told.runner)
        if runner is not None:
            runner.heard_ms = self._now_ms

    def _died(self, told: e.RunnerDied) -> None:
        runner = self.runners.pop(told.runner, None)
        if runner is None:
            return
        options = self._options
        if runner.phase is not RunnerPhase.STOPPING:
            self._deaths += 1
            pause_ms = delay_ms(_RUNNERS, self._deaths, options.backoff_ms, options.backoff_ms_max)
            self._next_runner_ms = self._now_ms + pause_ms
        for name in runner.pipelines:
            pipeline = self.pipelines[name]
            was = pipeline.phase
            pipeline.runner = None
            if was is Phase.STARTING:
                # Whom the runner was busy with when it died may have been the reason.
                self._failed(pipeline, told.reason)
            else:
                pipeline.phase, pipeline.due_ms = Phase.WAITING, self._now_ms
                pipeline.trace = told.reason

    def _query_started(self, told: e.QueryStarted) -> None:
        pipeline = self._attempt(told.runner, told.name, told.run)
        if pipeline is not None and pipeline.phase is Phase.STARTING:
            pipeline.phase, pipeline.trace = Phase.RUNNING, None
        if pipeline is not None:
            pipeline.came_up = True

    def _query_progressed(self, told: e.QueryProgressed) -> None:
        self._heard(e.RunnerHeard(told.runner))
        pipeline = self._attempt(told.runner, told.name, told.run)
        if pipeline is None or pipeline.phase is not Phase.RUNNING:
            return
        pipeline.progress, pipeline.parts = told.progress, told.parts
        if pipeline.failures and self._now_ms - pipeline.failed_ms >= self._options.healthy_ms:
            pipeline.failures = 0
        if self._now_ms - pipeline.told_ms >= self._options.progress_ms:
            self._tell(pipeline)

    def _query_ended(self, told: e.QueryEnded) -> None:
        pipeline = self._attempt(told.runner, told.name, told.run)
        if pipeline is None or pipeline.phase not in HOSTED:
            return
        was_asked = pipeline.phase is Phase.STOPPING
        self._take_out(pipeline)
        if was_asked:
            pipeline.phase, pipeline.due_ms, pipeline.trace = Phase.WAITING, self._now_ms, None
        elif told.is_busy:
            pipeline.phase, pipeline.due_ms = Phase.WAITING, self._now_ms + self._options.busy_ms
            pipeline.trace = told.trace
        elif told.is_permanent:
            pipeline.phase, pipeline.trace = Phase.FAILED, told.trace
            pipeline.failures += 1
        else:
            self._failed(pipeline, told.trace or "the query ended by itself")

    def _attempt(self, runner: str, name: str, run: int) -> Pipeline | None:
        """The pipeline, if it is this attempt that was spoken of."""
        pipeline = self.pipelines.get(name)
        return pipeline if pipeline is not None and (pipeline.runner, pipeline.run) == (runner, run) else None

    def _failed(self, pipeline: Pipeline, trace: str) -> None:
        options = self._options
        if self._now_ms - pipeline.failed_ms > options.healthy_ms + options.backoff_ms_max:
            pipeline.failures = 0
        pipeline.failures += 1
        pipeline.failed_ms, pipeline.trace = self._now_ms, trace
        if 0 <= options.restarts_max < pipeline.failures:
            pipeline.phase = Phase.FAILED
            return
        pause_ms = delay_ms(pipeline.spec.name, pipeline.failures, options.backoff_ms, options.backoff_ms_max)
        pipeline.phase, pipeline.due_ms = Phase.WAITING, self._now_ms + pause_ms

    # What follows

    def _advance(self, pipeline: Pipeline) -> None:
        """One pipeline's way to what is wanted of it, as far as it can go now."""
        if pipeline.phase is Phase.PLACED:
            self._advance_placed(pipeline)
        elif pipeline.phase in HOSTED:
            self._advance_hosted(pipeline)
        if pipeline.phase not in HOSTED and pipeline.phase is not Phase.PLACED:
            self._advance_free(pipeline)
        if pipeline.spec.name in self.pipelines:
            self._tell_if_new(pipeline)

    def _advance_free(self, pipeline: Pipeline) -> None:
        is_busy = self._now_ms < pipeline.busy_until_ms
        if pipeline.leaving is not Leaving.NO:
            if not (is_busy and pipeline.leaving is Leaving.DELETED):
                self._forget(pipeline)
            return
        if not pipeline.should_run:
            if pipeline.phase is not Phase.FAILED or pipeline.is_outdated:
                pipeline.phase, pipeline.trace = Phase.RESTING, None
            return
        is_new = pipeline.phase is Phase.RESTING or (pipeline.phase is Phase.FAILED and pipeline.is_outdated)
        if is_new:
            pipeline.phase, pipeline.due_ms = Phase.WAITING, self._now_ms
            pipeline.failures, pipeline.trace = 0, None
        if pipeline.phase is Phase.WAITING and pipeline.due_ms <= self._now_ms and not is_busy:
            runner = self._place(pipeline)
            if runner is not None:
                pipeline.phase, pipeline.runner = Phase.PLACED, runner.name
                runner.pipelines.add(pipeline.spec.name)
                self._advance_placed(pipeline)

    def _advance_placed(self, pipeline: Pipeline) -> None:
        runner = self._runner_of(pipeline)
        fits = runner.owner == pipeline.spec.name or (runner.owner is None and _may_share(pipeline.spec))
        if not (pipeline.should_run and runner.takes_work and fits):
            self._take_out(pipeline)
            pipeline.phase, pipeline.due_ms = Phase.WAITING, self._now_ms
            return
        is_taken = any(self.pipelines[name].occupies_start for name in runner.pipelines)
        if runner.phase is not RunnerPhase.UP or is_taken:
            return
        self._numbers += 1
        pipeline.phase, pipeline.run, pipeline.started = Phase.STARTING, self._numbers, pipeline.order
        pipeline.due_ms = self._now_ms + self._options.start_timeout_ms
        pipeline.progress, pipeline.parts, pipeline.came_up = {}, (), False
        pipeline.part_restarts = pipeline.spec.part_restarts
        self._commands.append(StartQuery(runner.name, pipeline.run, pipeline.spec))

    def _advance_hosted(self, pipeline: Pipeline) -> None:
        runner, name = self._runner_of(pipeline), pipeline.spec.name
        is_late = pipeline.due_ms <= self._now_ms
        if pipeline.phase is Phase.STOPPING:
            if is_late:
                self._kill(runner, f"the query of {name} did not stop in time")
        elif not pipeline.should_run or pipeline.is_outdated:
            pipeline.phase, pipeline.due_ms = Phase.STOPPING, self._now_ms + self._options.stop_timeout_ms
            self._commands.append(StopQuery(runner.name, name, pipeline.run))
        elif pipeline.phase is Phase.STARTING and is_late:
            self._kill(runner, f"the query of {name} did not start in time")
        elif pipeline.phase is Phase.RUNNING and pipeline.part_restarts != pipeline.spec.part_restarts:
            pipeline.part_restarts = pipeline.spec.part_restarts
            self._commands.append(RestartParts(runner.name, name, pipeline.run, pipeline.part_restarts))

    def _forget(self, pipeline: Pipeline) -> None:
        name = pipeline.spec.name
        if pipeline.leaving is Leaving.DELETED:
            self._commands.append(ForgetPipeline(pipeline.spec))
        elif pipeline.leaving is Leaving.REVOKED:
            if pipeline.phase is Phase.WAITING:
                pipeline.trace = None
            # Without a name under it: nothing of ours holds the checkpoint any more.
            self._commands.append(PublishStatus(name, replace(self._status(pipeline), control="")))
        del self.pipelines[name]

    # Runners

    def _place(self, pipeline: Pipeline) -> Runner | None:
        """A runner for the pipeline; None if none may be started yet."""
        is_shared = _may_share(pipeline.spec)
        owner = None if is_shared else pipeline.spec.name
        room = self._options.runner_pipelines_max if is_shared else 1
        for runner in self.runners.values():
            if runner.owner == owner and runner.takes_work and len(runner.pipelines) < room:
                return runner
        if self._now_ms < self._next_runner_ms:
            return None
        self._numbers += 1
        runner = Runner(f"{self._control}-{self._numbers}", owner, self._now_ms + self._options.start_timeout_ms)
        self.runners[runner.name] = runner
        self._commands.append(StartRunner(runner.name))
        return runner

    def _check_runner(self, runner: Runner) -> None:
        options, now_ms = self._options, self._now_ms
        if runner.pipelines:
            runner.busy_ms = now_ms
        if runner.phase is RunnerPhase.STARTING and runner.due_ms <= now_ms:
            self._kill(runner, "the runner did not connect in time")
        elif runner.phase is RunnerPhase.UP and now_ms - runner.heard_ms >= options.heartbeat_timeout_ms:
            self._kill(runner, f"the runner was silent for {options.heartbeat_timeout_ms} ms")
        elif runner.phase is RunnerPhase.STOPPING and runner.due_ms <= now_ms:
            self._kill(runner, "the runner did not end in time")
        elif runner.phase is RunnerPhase.UP and now_ms - runner.busy_ms >= options.empty_ms:
            runner.phase, runner.due_ms = RunnerPhase.STOPPING, now_ms + options.stop_timeout_ms
            self._commands.append(StopRunner(runner.name))

    def _kill(self, runner: Runner, reason: str) -> None:
        if runner.phase is not RunnerPhase.KILLED:
            runner.phase = RunnerPhase.KILLED
            self._commands.append(KillRunner(runner.name, reason))

    def _take_out(self, pipeline: Pipeline) -> None:
        runner = self._runner_of(pipeline)
        runner.pipelines.discard(pipeline.spec.name)
        runner.busy_ms = self._now_ms
        pipeline.runner = None

    def _runner_of(self, pipeline: Pipeline) -> Runner:
        assert pipeline.runner is not None
        return self.runners[pipeline.runner]

    # What is told

    def _tell_if_new(self, pipeline: Pipeline) -> None:
        told = pipeline.told
        if told is None or _essence(told) != _essence(self._status(pipeline)):
            self._tell(pipeline)

    def _tell(self, pipeline: Pipeline) -> None:
        pipeline.told, pipeline.told_ms = self._status(pipeline), self._now_ms
        if pipeline.leaving is not Leaving.LOST:
            self._commands.append(PublishStatus(pipeline.spec.name, pipeline.told))

    def _status(self, pipeline: Pipeline) -> PipelineStatus:
        state = pipeline.state
        told = pipeline.told
        version, restart = pipeline.started if pipeline.phase in HOSTED else pipeline.order
        return PipelineStatus(
            state=state,
            version=version,
            restart=restart,
            runner=pipeline.runner,
            control=self._control,
            failures=pipeline.failures,
            trace=pipeline.trace,
            busy_until_ms=pipeline.busy_until_ms if pipeline.busy_until_ms > self._now_ms else 0,
            since_ms=told.since_ms if told is not None and told.state is state else self._now_ms,
            progress=pipeline.progress,
            parts=pipeline.parts,
        )


def _may_share(spec: PipelineSpec) -> bool:
    return spec.isolation is Isolation.SHARED


def _essence(status: PipelineStatus) -> tuple[object, ...]:
    """All but what changes with every micro-batch."""
    told = ("id", "state", "trace", "topics", "restart")
    parts = tuple(tuple(part.get(name) for name in told) for part in status.parts)
    return (status.state, status.version, status.restart, status.runner, status.failures, status.trace, parts)
