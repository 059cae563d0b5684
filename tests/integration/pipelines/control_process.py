"""Control processes as processes that tests start and kill, and what they are to do with a topic."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ottla.pipelines.runner.catalog import Entry, PipelineCatalog
from ottla.pipelines.runner.control.option import ControlOptions
from ottla.pipelines.runner.spec import PipelineSpec
from ottla.pipelines.runner.status import State
from tests.integration.pipelines.conftest import SPARK_SETTINGS
from tests.integration.pipelines.query_driver import processes_of

PATIENCE_S = 300


class ControlRun:
    """Control processes that share one directory, and the catalog of what they look after."""

    def __init__(self, bootstrap: str, data: Path, *arguments: str) -> None:
        self.data = data
        self._arguments = arguments
        self._bootstrap = bootstrap
        self._options = ControlOptions(client={"bootstrap.servers": bootstrap}, data=data)
        self._catalog = PipelineCatalog(self._options)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._sessions: set[int] = set()

    def start(self) -> subprocess.Popen[bytes]:
        """One more of them."""
        settings = [part for name, value in SPARK_SETTINGS.items() for part in ("--spark", f"{name}={value}")]
        command = [sys.executable, "-m", "ottla.cli.main", "pipelines", "run", "-b", self._bootstrap, *self._arguments]
        with (self.data.parent / "control.log").open("ab") as log:
            process = subprocess.Popen([*command, "--data", str(self.data), *settings], stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def write(self, spec: PipelineSpec) -> None:
        """As soon as there are topics to write to."""
        self.wait_until(lambda: self.entries() is not None)
        asyncio.run(self._catalog.define(spec))

    def entries(self) -> dict[str, Entry] | None:
        from ottla.base.errors import OttlaError

        try:
            return asyncio.run(self._catalog.entries())
        except OttlaError:
            return None

    def change(self, name: str, change: Callable[[PipelineSpec], PipelineSpec]) -> None:
        asyncio.run(self._catalog.change(name, change))

    def delete(self, name: str) -> None:
        asyncio.run(self._catalog.delete(name))

    def state(self, name: str) -> State | None:
        status = self.entry(name).status
        return None if status is None else status.state

    def entry(self, name: str) -> Entry:
        found = self.entries()
        assert found is not None
        return found[name]

    def runners(self) -> dict[str, int]:
        """The sessions of runners that are alive, by name."""
        found = {}
        for path in self.data.glob("runners/*/*.session"):
            text = path.read_text()
            if text and processes_of(int(text)):
                found[path.stem] = int(text)
                self._sessions.add(int(text))
        return found

    def kill_runner(self) -> None:
        """The Python process of one, or the Java process, or a worker: whichever the dice say."""
        sessions = list(self.runners().values())
        members = [pid for session in sessions for pid in processes_of(session)]
        if members:
            self.kill_process(random.choice(members))

    def kill_process(self, pid: int) -> None:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return

    def wait_until(self, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline, self.words()
            time.sleep(0.5)

    def words(self) -> str:
        """What all of them said."""
        logs = [self.data.parent / "control.log", *self.data.glob("runners/*/*.log")]
        return "\n\n".join(f"{path}:\n{path.read_text(errors='replace')[-6_000:]}" for path in logs if path.exists())

    def stop(self) -> None:
        """In order; whatever is left is killed."""
        self.runners()
        for process in self._processes:
            if process.poll() is None:
                process.terminate()
        for process in self._processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.runners()
        for session in self._sessions:
            for pid in processes_of(session):
                self.kill_process(pid)
