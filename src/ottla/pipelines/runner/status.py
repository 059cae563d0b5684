"""The status of a pipeline: the record under its name in the topic of statuses. Pure."""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen


class State(enum.StrEnum):
    """The state of a pipeline."""

    UNASSIGNED = "unassigned"
    """No control process looks after it, or it waits for a runner."""
    STARTING = "starting"
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    RESTARTING = "restarting"
    """It failed and is tried again; `trace` says why."""
    FAILED = "failed"
    """It was given up, until it is restarted or changed."""


@frozen(kw_only=True)
class PipelineStatus:
    """One pipeline as its control process last saw it."""

    state: State
    version: int = 0
    restart: int = 0
    runner: str | None = None
    control: str = ""
    """The control process in charge; empty if the last one has released it in order."""
    failures: int = 0
    """Failures in a row."""
    trace: str | None = None
    since_ms: int = 0
    """Since when it is in this state."""
    busy_until_ms: int = 0
    """Until when a silent runner may hold the checkpoint, on a file system without locks."""
    progress: Mapping[str, Any] = field(default_factory=dict)
    parts: Sequence[Mapping[str, Any]] = ()
    """What the kind tells of the pipeline's parts, such as a connector's tasks."""
    owner: str = ""
    """That of its spec: what is left of a pipeline that was deleted is for the same control processes."""

    def to_json(self) -> bytes:
        """The record's value."""
        fields = {
            "state": self.state.value,
            "version": self.version,
            "restart": self.restart,
            "runner": self.runner,
            "control": self.control,
            "failures": self.failures,
            "trace": self.trace,
            "since_ms": self.since_ms,
            "busy_until_ms": self.busy_until_ms,
            "progress": dict(self.progress),
            "parts": [dict(part) for part in self.parts],
            "owner": self.owner,
        }
        return json.dumps(fields, ensure_ascii=False).encode()

    @classmethod
    def from_json(cls, value: bytes) -> "PipelineStatus":
        """Reads a record.

        >>> status = PipelineStatus(state=State.RUNNING, version=2, runner="r")
        >>> PipelineStatus.from_json(status.to_json()).runner
        'r'
        """
        try:
            fields = json.loads(value)
            fields["state"] = State(fields["state"])
            fields["parts"] = tuple(fields.get("parts", ()))
            known = {key: found for key, found in fields.items() if key in cls.__annotations__}
            return cls(**known)
        except (ValueError, KeyError, TypeError) as error:
            raise OttlaError(f"a status that can't be understood: {error}") from None
