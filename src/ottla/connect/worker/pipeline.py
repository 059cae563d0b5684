"""A connector as a pipeline: the spec that a runner reads, and when it has to be written again.

Every client that may read the pipelines' topic sees the spec: secrets of the worker never get into it. A runner has
the cluster's security from its own settings.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from ottla.base.frozen import frozen
from ottla.connect.worker.config_record import Properties, TargetState
from ottla.connect.worker.config_state import raw

KIND: Final = "connect"
_NAME_MAX: Final = 100
_PLAIN: Final = re.compile(r"\w[\w .-]{0,99}")
_WANTED: Final = {TargetState.STARTED: "running", TargetState.PAUSED: "paused", TargetState.STOPPED: "stopped"}


@frozen
class ConnectorPlan:
    """The pipeline of a connector."""

    config: Properties
    tasks: Sequence[Properties]
    target: TargetState
    is_foreign: bool
    """Whether its code is not ours: it then shares a runner with nobody."""
    owner: str = ""
    """Whose control processes run it."""


def prefix_of(group: str) -> str:
    """The prefix of the names of all pipelines of one Connect cluster."""
    return f"{KIND}-{quote(group, safe=' ')}@"


def pipeline_name(group: str, connector: str) -> str:
    """A name that can be a directory of Hadoop's, too; that of a connector with a stranger name has a digest.

    >>> pipeline_name("main", "lines")
    'connect-main@lines'
    >>> pipeline_name("main", "a:b")
    'connect-main@a%3Ab-6783a31eab'
    """
    if _PLAIN.fullmatch(connector) is not None:
        return prefix_of(group) + connector
    digest = hashlib.sha256(connector.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{prefix_of(group)}{quote(connector, safe=' ', errors='replace')[:_NAME_MAX]}-{digest}"


def definition(plan: ConnectorPlan, worker: Mapping[str, str]) -> dict[str, Any]:
    """The definition for the kind `connect`."""
    config = dict(raw(plan.config))
    return {
        "connector": config.get("connector.class", ""),
        "config": config,
        "worker": dict(worker),
        "tasks": [dict(raw(task)) for task in plan.tasks],
    }


def next_spec(
    current: Mapping[str, Any] | None, plan: ConnectorPlan, worker: Mapping[str, str]
) -> dict[str, Any] | None:
    """The spec to be written; None if the `current` one says it already.

    The checkpoint is the pipeline's own for ever: tasks begin where Connect's offsets say, and its lock keeps those of
    a connector that was deleted and made again from running twice.

    >>> plan = ConnectorPlan({"connector.class": "X"}, [{}], TargetState.STARTED, False)
    >>> made = next_spec(None, plan, {})
    >>> made["version"], made["wanted"], next_spec(made, plan, {})
    (1, 'running', None)
    """
    wanted = _WANTED[plan.target]
    if plan.target is TargetState.STOPPED or not plan.tasks:
        # A stopped connector has no tasks: its pipeline is stopped as it was.
        return None if current is None or current.get("wanted") == "stopped" else {**current, "wanted": "stopped"}
    told = definition(plan, worker)
    isolation = "own" if plan.is_foreign else "shared"
    if current is None:
        return {
            "kind": KIND, "definition": told, "version": 1, "wanted": wanted, "isolation": isolation,
            "checkpoint": "", "restart": 0, "owner": plan.owner,
        }  # fmt: skip
    # One that was stopped is another version when it runs again, so that a status tells which stop it is about.
    is_same = (current.get("definition"), current.get("isolation"), current.get("owner") or "") == (
        told, isolation, plan.owner,
    )  # fmt: skip
    if is_same and current.get("wanted") != "stopped":
        return None if current.get("wanted") == wanted else {**current, "wanted": wanted}
    return {
        **current,
        "kind": KIND,
        "definition": told,
        "version": int(current.get("version") or 0) + 1,
        "wanted": wanted,
        "isolation": isolation,
        "owner": plan.owner,
    }


def restarted(current: Mapping[str, Any]) -> dict[str, Any]:
    """The spec with one more restart."""
    return {**current, "restart": int(current.get("restart") or 0) + 1}


def with_restarts(current: Mapping[str, Any], tasks: Iterable[int]) -> dict[str, Any]:
    """The spec with one more restart of these tasks; the others continue.

    >>> with_restarts({"part_restarts": {"0": 1}}, [0, 2])["part_restarts"]
    {'0': 2, '2': 1}
    """
    restarts = dict(current.get("part_restarts") or {})
    for task in tasks:
        restarts[str(task)] = int(restarts.get(str(task)) or 0) + 1
    return {**current, "part_restarts": restarts}


def is_at_rest(spec: Mapping[str, Any] | None, status: Mapping[str, Any] | None) -> bool:
    """Whether no task of a stopped connector can still be at work."""
    if spec is None:
        return True
    if spec.get("wanted") != "stopped":
        return False  # runners have not been told yet
    return status is None or (status.get("state") == "stopped" and status.get("version", 0) >= spec.get("version", 0))
