"""The status of a task: an entry of `parts` in a pipeline's status. Pure."""

import enum
from dataclasses import replace
from typing import Any

from ottla.base.frozen import frozen


class TaskState(enum.StrEnum):
    """Kafka's states of a task, as far as a running connector has them."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    RESTARTING = "RESTARTING"
    FAILED = "FAILED"


@frozen
class Part:
    """The status of one task."""

    number: int
    state: TaskState = TaskState.UNASSIGNED
    trace: str | None = None
    failures: int = 0
    host: str = ""
    records: int = 0
    """Written or put since the pipeline was started."""
    topics: tuple[str, ...] = ()
    """Those that it has read or written."""
    lag: int | None = None
    """How many records wait in topics for a sink; None if it is not known, and for sources."""
    restart: int = 0
    """The last restart that a user asked for and that was done."""

    def told(self, message: dict[str, Any]) -> "Part":
        """After a message of the task's attendant.

        >>> Part(0).told({"say": "state", "state": "RUNNING", "host": "h"}).told({"say": "moved", "records": 5}).records
        5
        """
        if message["say"] == "moved":
            return replace(self, records=self.records + message["records"])
        if message["say"] == "lag":
            return replace(self, lag=message["records"])
        if message["say"] == "restarted":
            return self.restarted(message["restart"])
        if message["say"] == "topics":
            return replace(self, topics=tuple(sorted({*self.topics, *message["topics"]})))
        return replace(
            self,
            state=TaskState(message["state"]),
            trace=message.get("trace"),
            failures=message.get("failures", 0),
            host=message.get("host", self.host),
        )

    def restarted(self, number: int) -> "Part":
        """After a restart that a user asked for."""
        state = TaskState.UNASSIGNED if self.state is TaskState.UNASSIGNED else TaskState.RESTARTING
        return replace(self, state=state, trace=None, failures=0, restart=number)

    def to_json(self) -> dict[str, Any]:
        """As the status has it."""
        return {
            "id": self.number,
            "state": self.state.value,
            "trace": self.trace,
            "failures": self.failures,
            "host": self.host,
            "records": self.records,
            "topics": list(self.topics),
            "lag": self.lag,
            "restart": self.restart,
        }
