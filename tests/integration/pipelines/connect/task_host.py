"""A connector's tasks without Spark: the board, and an attendant for each task in a thread instead of a worker."""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ottla.pipelines.connect.attendant import attend
from ottla.pipelines.connect.board import Board
from ottla.pipelines.connect.definition import read_definition
from ottla.pipelines.connect.part import Part, TaskState
from ottla.pipelines.connect.topic_maker import ensure_offset_topic

PATIENCE_S = 60
STRING = "org.apache.kafka.connect.storage.StringConverter"


def wait_until(holds: Callable[[], bool], words: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, words()
        time.sleep(0.05)


class TaskHost:
    """The tasks of one connector; started by `with`, ended in order at its end."""

    def __init__(self, bootstrap: str, place: Path, config: Mapping[str, str], **worker: str) -> None:
        given: dict[str, Any] = {
            "config": {"name": place.name, **config},
            "worker": {
                "bootstrap.servers": bootstrap,
                "group.id": "workers",
                "offset.storage.topic": "connect-offsets",
                "offset.storage.partitions": "1",
                "offset.flush.interval.ms": "200",
                "key.converter": STRING,
                "value.converter": STRING,
                **{name.replace("_", "."): value for name, value in worker.items()},
            },
        }
        self.definition = read_definition(place.name, given, {})
        self._place = str(place)

    def __enter__(self) -> "TaskHost":
        if not self.definition.is_sink:
            ensure_offset_topic(self.definition)
        self._board = Board(self.definition.jobs(self._place), "127.0.0.1")
        board, token = self._board.options["board"], self._board.options["token"]
        self._threads = [
            threading.Thread(target=attend, args=(board, token, number)) for number in range(len(self.parts()))
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._board.end()
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self._board.close()

    def parts(self) -> list[Part]:
        return self._board.parts()

    def restart(self, **restarts: int) -> None:
        """Starts tasks again; `t1=2` is the second restart of task 1."""
        self._board.restart({name.removeprefix("t"): number for name, number in restarts.items()})

    def wait_for(self, state: TaskState, number: int = 0) -> Part:
        self.wait_until(lambda: self.parts()[number].state is state)
        return self.parts()[number]

    def wait_until(self, holds: Callable[[], bool]) -> None:
        wait_until(holds, self.parts)
