"""The driver's side of a connector's tasks: collects their states, and tells them to end.

One board belongs to one query. It listens on the driver's address, as Spark's driver does; attendants connect to it
and show the token that is among the query's options. Settings of tasks are sent over this connection: Spark's plans
and logs have none of them.
"""

import hmac
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ottla.pipelines.connect.definition import TaskJob
from ottla.pipelines.connect.part import Part
from ottla.pipelines.runner.message import decode, encode

_SHIFT_SECONDS: Final = 30.0
"""How long a task keeps its slot while others wait for one."""


class Board:
    """Holds the state of all tasks of one connector, and the connections of their attendants."""

    def __init__(self, jobs: Sequence[TaskJob], host: str, restarts: Mapping[str, int] | None = None) -> None:
        """`restarts` are those that were asked for before."""
        self._jobs: Final = jobs
        self._token: Final = secrets.token_hex(16)
        self._parts: Final = [Part(job.number, restart=(restarts or {}).get(str(job.number), 0)) for job in jobs]
        self._lock: Final = threading.Lock()
        self._connections: Final[dict[int, tuple[socket.socket, float]]] = {}
        self._running: Final[set[socket.socket]] = set()
        self._is_ending = False
        self._listener: Final = socket.create_server((host, 0))
        threading.Thread(target=self._accept, name="connect-board", daemon=True).start()

    @property
    def options(self) -> dict[str, str]:
        """The options of the data source by which attendants find the board."""
        host, port = self._listener.getsockname()[:2]
        return {"board": f"{host}:{port}", "token": self._token, "tasks": str(len(self._jobs))}

    def parts(self) -> list[Part]:
        """The state of all tasks."""
        with self._lock:
            return list(self._parts)

    @property
    def has_ended(self) -> bool:
        """Whether all tasks were told to end and have ended."""
        with self._lock:
            return self._is_ending and not self._running

    def end(self) -> None:
        """Ends all tasks that run, and every task that starts later."""
        with self._lock:
            self._is_ending = True
        for connection, _ in self._connected():
            _send(connection, {"do": "end"})

    def end_shifts(self) -> None:
        """Ends tasks that have had their slot for half a minute, so that others get it; these start again later."""
        for connection, since_s in self._connected():
            if time.monotonic() - since_s >= _SHIFT_SECONDS:
                _send(connection, {"do": "end"})

    def restart(self, restarts: Mapping[str, int]) -> None:
        """Starts tasks again whose number is higher than before; one without a slot is about to start anyhow."""
        with self._lock:
            for number, part in enumerate(self._parts):
                asked = restarts.get(str(number), 0)
                if asked <= part.restart:
                    continue
                found = self._connections.get(number)
                if found is None:
                    self._parts[number] = part.restarted(asked)
                else:
                    _send(found[0], {"do": "restart", "restart": asked})

    def close(self) -> None:
        """Ends all connections: attendants end their tasks."""
        self._is_ending = True
        self._listener.close()
        for connection, _ in self._connected():
            _shut(connection)

    def _connected(self) -> list[tuple[socket.socket, float]]:
        with self._lock:
            return list(self._connections.values())

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), name="connect-task", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as lines:
                messages = (decode(line) for line in lines)
                self._attend(connection, messages)
        except (OSError, ValueError):
            # The attendant was killed; Spark notices, too.
            return

    def _attend(self, connection: socket.socket, messages: Iterator[dict[str, Any]]) -> None:
        hello = next(messages, {})
        number = hello.get("task")
        if not hmac.compare_digest(self._token, str(hello.get("token"))):
            return
        if not isinstance(number, int) or number not in range(len(self._jobs)):
            return
        with self._lock:
            earlier = self._connections.get(number)
            self._connections[number] = (connection, time.monotonic())
            is_wanted = not self._is_ending
            if is_wanted:
                self._running.add(connection)
        if earlier is not None:
            # Spark repeats the task, so what is left of the one before is to end.
            _shut(earlier[0])
        try:
            job = {"do": "run", "job": self._jobs[number].to_json()}
            _send(connection, job if is_wanted else {"do": "end"})
            for message in messages:
                self._hear(connection, number, message)
        finally:
            with self._lock:
                self._running.discard(connection)
                found = self._connections.get(number)
                if found is not None and found[0] is connection:
                    del self._connections[number]

    def _hear(self, connection: socket.socket, number: int, message: dict[str, Any]) -> None:
        with self._lock:
            found = self._connections.get(number)
            if found is not None and found[0] is connection:
                self._parts[number] = self._parts[number].told(message)


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    try:
        connection.sendall(encode(message))
    except OSError:
        _shut(connection)


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
