"""The program of one task: `python -m ottla.pipelines.connect.program`, with a job on its standard input.

It runs until its standard input ends, in order if it can, and tells its attendant how it goes (`report`).
"""

import fcntl
import hashlib
import logging
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from ottla.connect.cluster.secret_setting import is_secret
from ottla.connect.connector import SinkConnector, SourceConnector
from ottla.connect.errors import ConnectError, trace
from ottla.connect.mask import Mask, MaskingFormatter
from ottla.connect.plugin import Plugins
from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.pause import Stop
from ottla.pipelines.connect.report import Report
from ottla.pipelines.runner.message import decode

_log: Final = logging.getLogger(__name__)
_LOCK_PAUSE_S: Final = 0.1
_LOG_FORM: Final = "%(asctime)s %(levelname)s %(message)s"


class Run(Protocol):
    """A source's or a sink's task at work."""

    def run(self) -> None:
        """Until it is to stop."""


def main() -> int:
    """Runs the task; the exit code."""
    lines_of_log = logging.StreamHandler(sys.stderr)
    lines_of_log.setFormatter(logging.Formatter(_LOG_FORM))
    logging.basicConfig(level=logging.INFO, handlers=[lines_of_log])
    report, stop, mask = Report(), Stop(), Mask({})
    lines = sys.stdin.buffer
    job = TaskJob(**decode(lines.readline()))
    # A connector that reads standard input gets none.
    commands = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    threading.Thread(target=_wait_for_end, args=(commands, stop), name="connect-stop", daemon=True).start()
    try:
        with _lock_of(job).open("ab") as lock:
            if _taken(lock.fileno(), stop):
                resolved = job.resolved()
                mask = _mask_of(job, resolved)
                lines_of_log.setFormatter(MaskingFormatter(_LOG_FORM, mask))
                _made(resolved, report, stop).run()
    except BaseException as error:  # noqa: BLE001  (an edge: a connector raises anything, and its attendant decides)
        _log.error("The task %s-%d has failed", job.name, job.number, exc_info=error)
        report.failed(mask.text(trace(error)))
        return 1
    finally:
        report.flush()
    return 0


def _mask_of(job: TaskJob, resolved: TaskJob) -> Mask:
    pairs = [(job.config, resolved.config), (job.worker, resolved.worker), (job.settings, resolved.settings)]
    written_out = {name: value for name, value in job.config.items() if resolved.config.get(name) == value}
    plain = [value for given in (written_out, job.worker) for name, value in given.items() if is_secret(name)]
    return Mask.of(pairs, plain)


def _made(job: TaskJob, report: Report, stop: Stop) -> Run:
    connector = Plugins().connector(job.connector)
    if isinstance(connector, SourceConnector):
        from ottla.pipelines.connect.source_run import SourceRun

        return SourceRun(job, connector, report, stop)
    if isinstance(connector, SinkConnector):
        from ottla.pipelines.connect.sink_run import SinkRun

        return SinkRun(job, connector, report, stop)
    raise ConnectError(f"{job.connector} is neither a source nor a sink")


def _wait_for_end(commands: BinaryIO, stop: Stop) -> None:
    commands.read()
    stop.set()


def _lock_of(job: TaskJob) -> Path:
    """The file whose lock a task of this machine holds, so that no two processes run it."""
    key = hashlib.sha256(f"{job.place}\0{job.name}".encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir(), f"ottla-connect-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{key}-{job.number}.lock"


def _taken(descriptor: int, stop: Stop) -> bool:
    """Waits for what is left of an earlier process of this task; False if the task is to stop before."""
    while not stop.is_set:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_PAUSE_S)
        else:
            return True
    return False


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Threads that a connector has left behind do not hold the process up.
    os._exit(code)
