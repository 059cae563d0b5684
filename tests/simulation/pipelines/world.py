"""A world for supervisions: control processes, runners and checkpoints in simulated time, all of which may fail.

Messages between a control process and a runner keep their order and take their time. What the world holds against the
supervisions are named invariants, looked at with every step.
"""

import functools
import heapq
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from ottla.pipelines.runner.spec import Isolation, PipelineSpec, Wanted
from ottla.pipelines.runner.status import PipelineStatus, State
from ottla.pipelines.runner.supervision import command as c
from ottla.pipelines.runner.supervision import event as e
from ottla.pipelines.runner.supervision.machine import Supervision
from ottla.pipelines.runner.supervision.option import SupervisionOptions

SESSION_MS: Final = 10_000
OPTIONS: Final = SupervisionOptions(
    runner_pipelines_max=3, restarts_max=-1, start_timeout_ms=20_000, stop_timeout_ms=5_000, empty_ms=10_000,
    heartbeat_timeout_ms=8_000, takeover_ms=0, backoff_ms_max=8_000,
)  # fmt: skip
LEASED: Final = replace(OPTIONS, takeover_ms=SESSION_MS + 8_000 + 5_000 + 4_000)
"""For checkpoints without locks: the session, an unheard death, a stop, a kill, and some."""


class BrokenInvariantError(AssertionError):
    """What must never happen has happened."""


@dataclass
class Query:
    """A query as Spark has it; it holds its checkpoint."""

    run: int
    spec: PipelineSpec
    is_up: bool = False


@dataclass
class SimulatedRunner:
    """The processes of a runner."""

    name: str
    control: "Control"
    is_alive: bool = True
    is_hung: bool = False
    is_connected: bool = False
    queries: dict[str, Query] = field(default_factory=dict)
    to_control_ms: int = 0
    to_runner_ms: int = 0


class Control:
    """A control process."""

    def __init__(self, world: "World", name: str) -> None:
        self.name: Final = name
        self.machine = Supervision(name, world.options)
        self.is_alive = True
        self.specs: Final[dict[str, PipelineSpec]] = {}
        """What it was told last."""
        self.runners: Final[dict[str, SimulatedRunner]] = {}
        self._world: Final = world

    def tell(self, told: e.Event) -> None:
        if not self.is_alive:
            return
        if isinstance(told, (e.PipelineGained, e.SpecChanged)):
            self.specs[told.spec.name] = told.spec
        elif isinstance(told, (e.SpecDeleted, e.PipelineRevoked, e.PipelineLost)):
            self.specs.pop(told.name, None)
        for command in self.machine.apply(told, self._world.now_ms):
            self._world.obey(self, command)


class World:
    """Everything, by one seed."""

    def __init__(self, seed: int, *, options: SupervisionOptions = OPTIONS, has_locks: bool = True) -> None:
        self.options: Final = options
        self.now_ms = 0
        self.random: Final = Random(seed)
        self.has_locks: Final = has_locks
        self.controls: Final[dict[str, Control]] = {}
        self.owners: Final[dict[str, str]] = {}
        self.specs: Final[dict[str, PipelineSpec]] = {}
        self.statuses: Final[dict[str, PipelineStatus]] = {}
        self.queries_started = 0
        self.is_calm = False
        self._lost: Final[set[tuple[str, str]]] = set()
        """What zombies have not heard yet."""
        self._seen: dict[str, SimulatedRunner] = {}
        self._numbers: Final = itertools.count(1)
        self._queue: Final[list[tuple[int, int, Callable[[], None]]]] = []
        self._tick()

    # Time

    def later(self, least_ms: int, most_ms: int, work: Callable[[], None]) -> None:
        due_ms = self.now_ms + self.random.randint(least_ms, most_ms)
        heapq.heappush(self._queue, (due_ms, next(self._numbers), work))

    def run(self, until_ms: int) -> None:
        while self._queue and self._queue[0][0] <= until_ms:
            self.now_ms, _, work = heapq.heappop(self._queue)
            work()
            self.check()
        self.now_ms = until_ms

    def _tick(self) -> None:
        for control in list(self.controls.values()):
            control.tell(e.TimePassed())
        self.later(200, 200, self._tick)

    # Commands

    def obey(self, control: Control, command: c.Command) -> None:
        if isinstance(command, c.StartRunner):
            self._start_runner(control, command.runner)
        elif isinstance(command, c.KillRunner):
            runner = control.runners[command.runner]
            self.later(0, 1_000, lambda: self.kill_runner(runner, command.reason))
        elif isinstance(command, c.PublishStatus):
            self.statuses[command.name] = command.status
            owner = self.controls.get(self.owners.get(command.name, ""))
            if owner is not None and owner is not control:
                self.later(0, 500, lambda: owner.tell(e.StatusOverwritten(command.name)))
        elif isinstance(command, c.ForgetPipeline):
            self.statuses.pop(command.spec.name, None)
        else:
            if isinstance(command, c.StartQuery):
                self._check_start(control, command)
            self._send(control.runners[command.runner], command)

    def _check_start(self, control: Control, command: c.StartQuery) -> None:
        wanted = control.specs.get(command.spec.name)
        if wanted is None or wanted.wanted is not Wanted.RUNNING or wanted != command.spec:
            raise BrokenInvariantError(f"NothingUnwanted: {control.name} starts {command.spec} but knows {wanted}")

    def _start_runner(self, control: Control, name: str) -> None:
        runner = control.runners[name] = SimulatedRunner(name, control)
        if self._chance(0.1):
            self.later(0, 5_000, lambda: self.kill_runner(runner, "died while it started"))
        elif not self._chance(0.05):
            self.later(1_000, 6_000, lambda: self._connect(runner))

    def _connect(self, runner: SimulatedRunner) -> None:
        if runner.is_alive:
            runner.is_connected = True
            self._report(runner, e.RunnerConnected(runner.name))
            self._beat(runner)

    def _beat(self, runner: SimulatedRunner) -> None:
        if runner.is_alive:
            if not runner.is_hung:
                self._report(runner, e.RunnerHeard(runner.name))
                for name, query in runner.queries.items():
                    if query.is_up:
                        self._report(runner, e.QueryProgressed(runner.name, name, query.run, {"batch_id": self.now_ms}))
            self.later(500, 1_500, lambda: self._beat(runner))

    def _send(self, runner: SimulatedRunner, command: c.Command) -> None:
        runner.to_runner_ms = max(runner.to_runner_ms, self.now_ms + self.random.randint(0, 200))
        self.later(
            runner.to_runner_ms - self.now_ms, runner.to_runner_ms - self.now_ms, lambda: self._do(runner, command)
        )

    def _report(self, runner: SimulatedRunner, told: e.Event) -> None:
        runner.to_control_ms = max(runner.to_control_ms, self.now_ms + self.random.randint(0, 200))
        pause_ms = runner.to_control_ms - self.now_ms
        self.later(pause_ms, pause_ms, lambda: runner.control.tell(told))

    def _do(self, runner: SimulatedRunner, command: c.Command) -> None:
        if not runner.is_alive or runner.is_hung:
            return
        if isinstance(command, c.StopRunner):
            if runner.queries:
                raise BrokenInvariantError(f"NoEviction: {runner.name} is told to end with {list(runner.queries)}")
            self.later(0, 2_000, lambda: self.kill_runner(runner, "ended"))
        elif isinstance(command, c.StartQuery):
            self._start_query(runner, command)
        elif isinstance(command, c.RestartParts):
            query = runner.queries.get(command.name)
            if query is not None and query.run == command.run:
                query.spec = replace(query.spec, part_restarts=command.restarts)
        elif isinstance(command, c.StopQuery):
            query = runner.queries.get(command.name)
            if query is not None and query.run == command.run and not self._chance(0.03):
                self.later(0, 3_000, lambda: self.end_query(runner, command.name, query.run, None))

    def _start_query(self, runner: SimulatedRunner, command: c.StartQuery) -> None:
        name, run = command.spec.name, command.run
        if any(not query.is_up for query in runner.queries.values()):
            raise BrokenInvariantError(f"OneStartAtATime: {runner.name} is to start {name} beside another one")
        if self.has_locks and any(name in each.queries for each in self._alive()):
            self._report(runner, e.QueryEnded(runner.name, name, run, "held by another", is_busy=True))
            return
        self.queries_started += 1
        query = runner.queries[name] = Query(run, command.spec)
        if self._chance(0.15):
            self.later(0, 3_000, lambda: self.end_query(runner, name, run, "it failed"))
        elif not self._chance(0.05):
            self.later(100, 3_000, lambda: self._query_up(runner, name, query))

    def _query_up(self, runner: SimulatedRunner, name: str, query: Query) -> None:
        if runner.is_alive and runner.queries.get(name) is query:
            query.is_up = True
            self._report(runner, e.QueryStarted(runner.name, name, query.run))

    def end_query(self, runner: SimulatedRunner, name: str, run: int, trace: str | None) -> None:
        query = runner.queries.get(name)
        if runner.is_alive and query is not None and query.run == run:
            del runner.queries[name]
            self._report(runner, e.QueryEnded(runner.name, name, run, trace))

    # Faults and users

    def kill_runner(self, runner: SimulatedRunner, reason: str) -> None:
        if runner.is_alive:
            runner.is_alive = False
            runner.queries.clear()
            self.later(0, 500, lambda: runner.control.tell(e.RunnerDied(runner.name, reason)))

    def kill_control(self, control: Control) -> None:
        """Its runners notice, and end after their micro-batches; its pipelines move when its session is over."""
        control.is_alive = False
        del self.controls[control.name]
        for runner in control.runners.values():
            self.later(0, self.options.heartbeat_timeout_ms + 5_000, self._killing(runner))
        self.later(SESSION_MS // 2, SESSION_MS, self.rebalance)

    def _killing(self, runner: SimulatedRunner) -> Callable[[], None]:
        return lambda: self.kill_runner(runner, "its control process is gone")

    def add_control(self) -> None:
        name = f"c{next(self._numbers)}"
        self.controls[name] = Control(self, name)
        self.rebalance()

    def rebalance(self) -> None:
        """The group spreads the pipelines anew; who gives one up has ended it, or is believed dead."""
        names = list(self.controls)
        for name in sorted(set(self.statuses) - set(self.specs)):
            # Deleted while nobody looked after it: it is told to the one who does from now on.
            if self.controls and self.owners.get(name, "") not in self.controls:
                self.owners[name] = self.random.choice(names)
                self.controls[self.owners[name]].tell(e.RemainsFound(name, self.statuses[name]))
        for name, spec in list(self.specs.items()):
            owner = self.controls.get(self.owners.get(name, ""))
            if owner is not None and not self._chance(0.4):
                continue
            if owner is None:
                self._give(name, spec)
            elif self._chance(0.3) and not self.is_calm:
                # A zombie: it hears that it has lost the pipeline when its session is over.
                self.owners[name] = ""
                self._lost.add((owner.name, name))
                self.later(0, SESSION_MS, functools.partial(self._tell_lost, owner, name))
                self._give_other(name, spec, owner)
            elif len(names) > 1:
                self.owners[name] = owner.name
                owner.tell(e.PipelineRevoked(name))
                self._when_ended(owner, name)

    def _tell_lost(self, owner: Control, name: str) -> None:
        if (owner.name, name) in self._lost:
            self._lost.discard((owner.name, name))
            owner.tell(e.PipelineLost(name))

    def _when_ended(self, owner: Control, name: str) -> None:
        """The revoking member answers only when the pipeline has ended, or dies."""
        if self.owners.get(name) != owner.name:
            return
        if owner.is_alive and name in owner.machine.pipelines:
            self.later(100, 300, lambda: self._when_ended(owner, name))
        elif name in self.specs:
            self._give_other(name, self.specs[name], owner)

    def _give_other(self, name: str, spec: PipelineSpec, but: Control) -> None:
        others = [each for each in self.controls.values() if each is not but] or list(self.controls.values())
        if others:
            self._give(name, spec, self.random.choice(others))

    def _give(self, name: str, spec: PipelineSpec, to: Control | None = None) -> None:
        if not self.controls:
            self.owners.pop(name, None)
            return
        owner = to or self.random.choice(list(self.controls.values()))
        # A member that comes back hears first that it was away.
        self._tell_lost(owner, name)
        self.owners[name] = owner.name
        owner.tell(e.PipelineGained(spec, self.statuses.get(name)))

    def write(self, spec: PipelineSpec) -> None:
        """A user writes a spec."""
        self.specs[spec.name] = spec
        owner = self.controls.get(self.owners.get(spec.name, ""))
        if owner is None:
            self._give(spec.name, spec)
        else:
            owner.tell(e.SpecChanged(spec))

    def delete(self, name: str) -> None:
        self.specs.pop(name, None)
        owner = self.controls.get(self.owners.get(name, ""))
        if owner is not None:
            owner.tell(e.SpecDeleted(name))

    def random_step(self) -> None:
        """Something goes wrong, or a user wants something."""
        dice, runners = self.random.random(), list(self._alive())
        if dice < 0.2 and runners:
            self.kill_runner(self.random.choice(runners), "killed")
        elif dice < 0.25 and runners:
            self.random.choice(runners).is_hung = True
        elif dice < 0.3 and self.controls:
            self.kill_control(self.random.choice(list(self.controls.values())))
        elif dice < 0.4 and len(self.controls) < 3:
            self.add_control()
        elif dice < 0.45:
            self.rebalance()
        elif dice < 0.55 and runners:
            runner = self.random.choice(runners)
            for name, query in list(runner.queries.items())[:1]:
                self.end_query(runner, name, query.run, "a record that can't be read")
        else:
            self._user_step()

    def _user_step(self) -> None:
        name = f"p{self.random.randint(1, 7)}"
        spec = self.specs.get(name)
        if spec is None:
            self.write(PipelineSpec(name=name, kind="copy", isolation=self.random.choice(list(Isolation))))
        elif self._chance(0.1):
            self.delete(name)
        elif self._chance(0.5):
            self.write(replace(spec, wanted=self.random.choice(list(Wanted))))
        elif self._chance(0.5):
            self.write(replace(spec, version=spec.version + 1, isolation=self.random.choice(list(Isolation))))
        elif self._chance(0.5):
            self.write(replace(spec, restart=spec.restart + 1))
        else:
            part = str(self.random.randint(0, 2))
            restarts = {**spec.part_restarts, part: spec.part_restarts.get(part, 0) + 1}
            self.write(replace(spec, part_restarts=restarts))

    def _chance(self, share: float) -> bool:
        return not self.is_calm and self.random.random() < share

    # Invariants

    def _alive(self) -> Iterator[SimulatedRunner]:
        return (each for each in self._runners if each.is_alive)

    @property
    def _runners(self) -> list[SimulatedRunner]:
        for control in self.controls.values():
            self._seen.update(control.runners)
        self._seen = {name: each for name, each in self._seen.items() if each.is_alive}
        return list(self._seen.values())

    def check(self) -> None:
        """What holds at every moment."""
        holders: dict[str, str] = {}
        for runner in self._alive():
            for name in runner.queries:
                if name in holders:
                    raise BrokenInvariantError(f"OneRunnerPerCheckpoint: {name} in {holders[name]} and {runner.name}")
                holders[name] = runner.name

    def check_reached(self) -> None:
        """What holds when nothing has gone wrong for a while."""
        found = {
            name: (runner.control.name, query.spec)
            for runner in self._alive()
            for name, query in runner.queries.items()
            if query.is_up
        }
        wanted = {name: (self.owners[name], spec) for name, spec in self.specs.items() if spec.wanted is Wanted.RUNNING}
        if found != wanted:
            raise BrokenInvariantError(f"WantedStateReached: {found} instead of {wanted}")
        for name, spec in self.specs.items():
            state = {Wanted.RUNNING: State.RUNNING, Wanted.PAUSED: State.PAUSED, Wanted.STOPPED: State.STOPPED}
            if self.statuses[name].state is not state[spec.wanted] or self.statuses[name].control != self.owners[name]:
                raise BrokenInvariantError(f"StatusIsTrue: {self.statuses[name]} of {spec}")
        if set(self.statuses) != set(self.specs):
            raise BrokenInvariantError(f"Forgotten: {set(self.statuses) ^ set(self.specs)}")
        for runner in self._alive():
            if not runner.queries or runner.control.name not in self.controls:
                raise BrokenInvariantError(f"NoOrphans: {runner.name} runs for nothing")
