"""The control process: tells the supervision what has happened, and does what it says.

Everything happens in one event loop, so the supervision hears of one thing after the other.
"""

import asyncio
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.pipelines.runner.checkpoint_lock import CheckpointHeldError, CheckpointLock
from ottla.pipelines.runner.control.membership import Membership
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.control.orphan import end_orphans, hold
from ottla.pipelines.runner.control.process_tree import ProcessTree
from ottla.pipelines.runner.control.runner_channel import RunnerChannel
from ottla.pipelines.runner.control.status_writer import StatusWriter
from ottla.pipelines.runner.control.topic import ensure_topics
from ottla.pipelines.runner.message import CONTROL_VARIABLE, LOG_VARIABLE, NAME_VARIABLE, TOKEN_VARIABLE
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.supervision import command as c
from ottla.pipelines.runner.supervision import event as e
from ottla.pipelines.runner.supervision.machine import Supervision
from ottla.pipelines.session import check_java, check_pyspark

_log: Final = logging.getLogger(__name__)
_TICK_S: Final = 0.5
_END_S: Final = 30.0
_HOST: Final = Path(__file__).parents[1] / "host" / "program.py"


class ControlProcess:
    """One of the control processes of a group."""

    def __init__(self, options: ControlOptions) -> None:
        self._options: Final = options
        self._machine: Final = Supervision(options.name, options.supervision)
        self._channel: Final = RunnerChannel(self._hear_runner, self._lost_runner)
        self._statuses: Final = StatusWriter(options.client, options.status_topic, options.owner)
        self._membership: Final = Membership(options, self._tell_all, self._wait_until_ended)
        self._trees: Final[dict[str, ProcessTree]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._changed: Final = asyncio.Condition()
        self._do: Final[Mapping[type, Callable[[Any], None]]] = {
            c.StartRunner: self._start_runner,
            c.StopRunner: lambda command: self._channel.send(command.runner, {"do": "end"}),
            c.KillRunner: self._kill_runner,
            c.StartQuery: self._start_query,
            c.StopQuery: self._stop_query,
            c.RestartParts: self._restart_parts,
            c.PublishStatus: lambda command: self._statuses.write(command.name, command.status),
            c.ForgetPipeline: self._forget,
        }

    async def start(self) -> None:
        """Takes part from now on. `OttlaError` if Spark can't run here, or no broker answers."""
        check_pyspark()
        check_java()
        own = self._options.runners / self._options.name
        hold(own)
        end_orphans(self._options.runners)
        async with AsyncAdmin(self._options.client) as admin:
            partitions = await ensure_topics(admin, self._options)
        await self._channel.start()
        self._statuses.start()
        self._membership.start(partitions)
        self._spawn(self._tick())
        _log.info("The control process %s looks after pipelines; logs of runners are in %s", self._options.name, own)

    async def stop(self) -> None:
        """Ends its pipelines between two micro-batches, and leaves them to the others."""
        await self._membership.stop()
        for runner in list(self._trees):
            self._channel.send(runner, {"do": "end"})
        try:
            async with asyncio.timeout(_END_S):
                while self._trees:
                    await asyncio.sleep(_TICK_S / 5)
        except TimeoutError:
            _log.warning("%d runners did not end in time and are killed", len(self._trees))
        for tree in self._trees.values():
            tree.kill()
        await self._statuses.stop(_TICK_S * 10)
        await self._channel.stop()
        for task in self._tasks:
            task.cancel()

    # What is told

    def _tell_all(self, told: Sequence[e.Event]) -> None:
        for each in told:
            self._tell(each)

    def _tell(self, told: e.Event) -> None:
        # The clock of the wall: what it says is compared with that of other control processes.
        for command in self._machine.apply(told, time.time_ns() // 1_000_000):
            if not isinstance(command, c.PublishStatus):
                _log.info("%s", _shown(command))
            self._do[type(command)](command)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            self._tell(e.TimePassed())

    async def _wait_until_ended(self, names: Collection[str]) -> None:
        """Waits until none of these runs here any more, and their status says so."""
        while self._machine.hosted() & set(names):
            await asyncio.sleep(_TICK_S / 5)
            self._tell(e.TimePassed())
        self._tell(e.TimePassed())
        await self._statuses.flushed()

    def _hear_runner(self, runner: str, told: Mapping[str, Any]) -> None:
        say = told.get("say")
        if say == "hello":
            self._channel.send(runner, self._welcome())
        elif say == "up":
            self._tell(e.RunnerConnected(runner))
        elif say == "started":
            self._tell(e.QueryStarted(runner, told["name"], told["run"]))
        elif say == "progressed":
            self._tell(e.QueryProgressed(runner, told["name"], told["run"], told["progress"], told.get("parts", ())))
        elif say == "ended":
            flags = told.get("is_permanent", False), told.get("is_busy", False)
            self._tell(e.QueryEnded(runner, told["name"], told["run"], told.get("trace"), *flags))
        else:
            self._tell(e.RunnerHeard(runner))

    def _welcome(self) -> dict[str, Any]:
        options = self._options
        spark = {
            "spark.local.dir": str(options.data.resolve() / "spark"),
            "spark.sql.warehouse.dir": str(options.data.resolve() / "warehouse"),
            "spark.ui.showConsoleProgress": "false",
            **options.spark,
        }
        return {
            "do": "welcome",
            "cluster": dict(options.client),
            "secrets": {prefix: dict(secrets) for prefix, secrets in options.secrets.items()},
            "checkpoints": str(options.checkpoints),
            "master": None if options.spark_submit else options.master,
            "spark": spark,
        }

    def _lost_runner(self, runner: str) -> None:
        """Its connection is gone: it is dying, or about to end without us."""
        tree = self._trees.get(runner)
        if tree is not None:
            self._later(_TICK_S * 10, tree.kill)

    # What is done

    def _start_runner(self, command: c.StartRunner) -> None:
        options, runner = self._options, command.runner
        log = options.runners / options.name / f"{runner}.log"
        environment = os.environ | {
            CONTROL_VARIABLE: self._channel.address,
            NAME_VARIABLE: runner,
            TOKEN_VARIABLE: self._channel.expect(runner),
            LOG_VARIABLE: str(log),
            "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        }
        program = [sys.executable, "-m", "ottla.pipelines.runner.host.program"]
        if options.spark_submit is not None:
            settings = [part for pair in self._welcome()["spark"].items() for part in ("--conf", "=".join(pair))]
            program = [options.spark_submit, "--master", options.master, *settings, str(_HOST)]
        self._trees[runner] = ProcessTree(program, environment, log)
        self._spawn(self._attend(runner))

    async def _attend(self, runner: str) -> None:
        tree = self._trees[runner]
        try:
            await tree.start()
            reason = await tree.wait()
        except OSError as error:
            reason = f"the runner could not be started: {error}"
        del self._trees[runner]
        self._channel.forget(runner)
        _log.info("The runner %s is gone: %s", runner, reason.partition(";")[0])
        self._tell(e.RunnerDied(runner, reason))

    def _kill_runner(self, command: c.KillRunner) -> None:
        _log.warning("Killing the runner %s: %s", command.runner, command.reason)
        self._trees[command.runner].kill()

    def _start_query(self, command: c.StartQuery) -> None:
        spec = command.spec
        message = {"do": "start", "name": spec.name, "run": command.run, "spec": spec.to_json().decode()}
        self._channel.send(command.runner, message)

    def _stop_query(self, command: c.StopQuery) -> None:
        self._channel.send(command.runner, {"do": "stop", "name": command.name, "run": command.run})

    def _restart_parts(self, command: c.RestartParts) -> None:
        message = {"do": "restart", "name": command.name, "run": command.run, "parts": dict(command.restarts)}
        self._channel.send(command.runner, message)

    def _forget(self, command: c.ForgetPipeline) -> None:
        self._statuses.write(command.spec.name, None)
        checkpoint = self._options.checkpoints / command.spec.place
        if not checkpoint.exists():
            return
        try:
            lock = CheckpointLock(checkpoint, Path(os.devnull))
        except CheckpointHeldError as error:
            _log.warning("The checkpoint of %s stays behind: %s", command.spec.name, error)
            return
        # The lock's file stays: another one may wait for this very file.
        shutil.rmtree(checkpoint, ignore_errors=True)
        lock.release()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.critical("The control process can't go on", exc_info=error)
            # Its runners notice, and another control process takes over.
            os._exit(1)

    def _later(self, seconds: float, work: Callable[[], None]) -> None:
        asyncio.get_running_loop().call_later(seconds, work)


def _shown(command: c.Command) -> str:
    spec = getattr(command, "spec", None)
    name = spec.name if isinstance(spec, PipelineSpec) else getattr(command, "name", "")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(command).__name__).capitalize()
    runner = getattr(command, "runner", "")
    return " ".join(part for part in (words, name, "on" if name and runner else "", runner) if part)


def run_control(options: ControlOptions) -> int:
    """Runs a control process until a signal comes; the exit code."""
    from ottla.pipelines.runner.control.serving import serve

    return serve(ControlProcess(options))
