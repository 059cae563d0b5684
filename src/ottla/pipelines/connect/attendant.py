"""Attends to one task, in the Python process of its Spark task: starts it, starts it again when it fails, ends it.

Runs for as long as the task has its slot. If the driver is gone, so is the task: then another driver is about to
start it.
"""

import queue
import socket
import threading
import time
from typing import Any, Final

from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.part import TaskState
from ottla.pipelines.connect.restart import RestartOption, RestartPolicy
from ottla.pipelines.connect.task_process import TaskProcess
from ottla.pipelines.runner.message import decode, encode

_CONNECT_S: Final = 30.0
_GRACE_MS: Final = 5_000
_HANG_S: Final = 300.0
"""How long a connector may stay in one call, as long as Kafka lets a consumer be silent."""
_TURN_S: Final = 1.0
_TRACE_CHARACTERS_MAX: Final = 20_000


def attend(board: str, token: str, number: int) -> int:
    """Attends to a task until it is to end; how many records it has moved."""
    host, _, port = board.rpartition(":")
    with socket.create_connection((host, int(port)), _CONNECT_S) as connection:
        connection.settimeout(None)
        connection.sendall(encode({"say": "hello", "token": token, "task": number}))
        told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=_listen, args=(connection, told), name="connect-board", daemon=True).start()
        first = told.get()
        if first.get("do") != "run":
            # The query is about to be stopped; until then Spark would ask again and again.
            time.sleep(_TURN_S)
            return 0
        attendant = Attendant(TaskJob(**first["job"]), connection, told)
        try:
            return attendant.run()
        finally:
            connection.shutdown(socket.SHUT_RDWR)


def _listen(connection: socket.socket, told: "queue.SimpleQueue[dict[str, Any]]") -> None:
    try:
        with connection.makefile("rb") as lines:
            for line in lines:
                told.put(decode(line))
    except (OSError, ValueError):
        pass
    # The driver is gone, or has another attendant for this task.
    told.put({"do": "end"})


class Attendant:
    """One task in its slot."""

    def __init__(self, job: TaskJob, connection: socket.socket, told: "queue.SimpleQueue[dict[str, Any]]") -> None:
        self._job: Final = job
        self._connection: Final = connection
        self._told: Final = told
        self._policy: Final = RestartPolicy(f"{job.name}-{job.number}", RestartOption.of(job.config))
        self._grace_s: Final = int(job.worker.get("task.shutdown.graceful.timeout.ms", _GRACE_MS)) / 1000
        self._process: TaskProcess | None = None
        self._started_s = 0.0
        self._start_at_s: float | None = time.monotonic()
        self._heard_s = 0.0
        self._call_s = 0.0
        """How long the connector was in its call when the process was last heard."""
        self._trace: str | None = None
        self._records = 0

    def run(self) -> int:
        """Until it is to end; how many records were moved."""
        try:
            while True:
                if self._process is None and self._is_due():
                    self._start()
                message = self._next()
                if message.get("do") == "end":
                    break
                if message.get("do") == "restart":
                    self._restart(message["restart"])
                if message.get("process") is self._process and self._process is not None:
                    self._hear(message)
                self._end_hang()
        finally:
            self._end_process()
        return self._records

    def _next(self) -> dict[str, Any]:
        wait_s = _TURN_S
        if self._start_at_s is not None:
            wait_s = min(max(self._start_at_s - time.monotonic(), 0.001), _TURN_S)
        try:
            return self._told.get(timeout=wait_s)
        except queue.Empty:
            return {}

    def _is_due(self) -> bool:
        return self._start_at_s is not None and time.monotonic() >= self._start_at_s

    def _start(self) -> None:
        self._started_s, self._start_at_s, self._trace = time.monotonic(), None, None
        self._heard_s, self._call_s = time.monotonic(), 0.0
        self._process = TaskProcess(self._job, self._told)

    def _restart(self, number: int) -> None:
        """A user wants the task started again, whatever became of it."""
        self._end_process()
        self._policy.forget()
        self._start_at_s, self._trace = time.monotonic(), None
        self._send({"say": "restarted", "restart": number})

    def _hear(self, message: dict[str, Any]) -> None:
        say = message["say"]
        self._heard_s = time.monotonic()
        if say == "running":
            self._tell_state(TaskState.RUNNING, None)
        elif say == "moved":
            self._records += message["records"]
            self._send({"say": "moved", "records": message["records"]})
        elif say in ("topics", "lag"):
            self._send({name: value for name, value in message.items() if name != "process"})
        elif say == "beat":
            self._call_s = message["call_s"]
        elif say == "failed":
            self._trace = message["trace"]
        elif say == "exit":
            self._ended(message["how"])

    def _ended(self, how: str) -> None:
        self._process = None
        ran_ms = round((time.monotonic() - self._started_s) * 1000)
        trace = self._trace or f"org.apache.kafka.connect.errors.ConnectException: the task's process {how}\n"
        pause_ms = self._policy.failed(ran_ms=ran_ms)
        if pause_ms is None:
            self._tell_state(TaskState.FAILED, trace)
            return
        self._start_at_s = time.monotonic() + pause_ms / 1000
        self._tell_state(TaskState.RESTARTING, trace)

    def _end_hang(self) -> None:
        if self._process is None or time.monotonic() - self._heard_s + self._call_s < _HANG_S:
            return
        self._trace = (
            f"org.apache.kafka.connect.errors.ConnectException: the connector has not come back for {_HANG_S:.0f} s; "
            "its process was killed\n"
        )
        self._heard_s, self._call_s = time.monotonic(), 0.0
        self._process.kill()

    def _end_process(self) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        process.stop()
        deadline_s = time.monotonic() + self._grace_s
        commands = []
        while time.monotonic() < deadline_s:
            message = self._patiently(deadline_s)
            if "do" in message:
                commands.append(message)
            elif message.get("process") == process:
                if message["say"] == "moved":
                    self._records += message["records"]
                    self._send({"say": "moved", "records": message["records"]})
                if message["say"] == "exit":
                    break
        else:
            process.kill()
            process.wait()
        for command in commands:
            # What the driver said meanwhile is heard after it.
            self._told.put(command)

    def _patiently(self, deadline_s: float) -> dict[str, Any]:
        try:
            return self._told.get(timeout=max(deadline_s - time.monotonic(), 0.001))
        except queue.Empty:
            return {}

    def _tell_state(self, state: TaskState, trace: str | None) -> None:
        shown = None if trace is None else trace[:_TRACE_CHARACTERS_MAX]
        failures = self._policy.failures if trace is not None else 0
        host = socket.gethostname()
        self._send({"say": "state", "state": state.value, "trace": shown, "failures": failures, "host": host})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._connection.sendall(encode(message))
        except OSError:
            # The end of the connection is in the queue, too.
            return
