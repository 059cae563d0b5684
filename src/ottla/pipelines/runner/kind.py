"""The interface of a kind of pipeline, and the search for one by its name.

A kind is a module of ours, an entry point of the group `ottla.pipelines`, or a user's own `module:Class`.
"""

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

ENTRY_POINTS: Final = "ottla.pipelines"
_BUILT_IN: Final = {
    "connect": "ottla.pipelines.connect.kind:ConnectorKind",
    "copy": "ottla.pipelines.copy.kind:CopyKind",
    "streams": "ottla.pipelines.streams.kind:StreamsKind",
}


class InvalidDefinitionError(OttlaError):
    """A definition that will never work; the pipeline is given up until it is changed."""


@frozen(kw_only=True)
class Place:
    """The surroundings of one pipeline: its checkpoint, its cluster and its trigger."""

    name: str
    definition: Mapping[str, Any]
    checkpoint: Path
    """The directory that is this query's alone."""
    cluster: Mapping[str, str]
    """Settings of the Kafka clients, `bootstrap.servers` and security among them: options `kafka.<setting>`."""
    trigger: str
    """How often to look for new records, as `DataStreamWriter.trigger(processingTime=…)` takes it."""
    part_restarts: Mapping[str, int] = field(default_factory=dict)
    """How often users asked for a restart of each part until now."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Secret settings of this pipeline, which the control process has and no topic may have."""

    def cluster_options(self, settings: Mapping[str, str] | None = None) -> dict[str, str]:
        """The cluster as options of `format("ottla")`; `settings` count before the place's own."""
        return {f"kafka.{name}": value for name, value in {**self.cluster, **(settings or {})}.items()}


@runtime_checkable
class TellsParts(Protocol):
    """A query that knows more of itself than Spark does; `Kind.start` may return one."""

    def parts(self) -> Sequence[Mapping[str, Any]]:
        """The pipeline's parts for the status."""

    def progress(self) -> Mapping[str, Any]:
        """The progress since the last call, for the status."""

    def hasten(self) -> None:
        """Brings the micro-batch that is under way to its end: the query is to stop."""


@runtime_checkable
class RestartsParts(Protocol):
    """A query whose parts can be started again one by one; `Kind.start` may return one."""

    def restart_parts(self, restarts: Mapping[str, int]) -> None:
        """Starts those parts again whose number is higher than what they were last told."""


class Kind(Protocol):
    """A kind of pipeline; made once for each start of a query."""

    def check(self, definition: Mapping[str, Any]) -> None:
        """Raises `InvalidDefinitionError`."""

    def start(self, spark: "SparkSession", place: Place) -> "StreamingQuery":
        """Starts the query; it writes its checkpoint to `place.checkpoint`. What is returned may be a `TellsParts`."""


def kind_of(name: str) -> Kind:
    """The kind of this name; `InvalidDefinitionError` if there is none.

    >>> kind_of("nonsense")
    Traceback (most recent call last):
    ottla.pipelines.runner.kind.InvalidDefinitionError: there is no kind of pipeline 'nonsense'; there are connect, ...
    """
    known = dict(_BUILT_IN)
    known |= {found.name: found.value for found in entry_points(group=ENTRY_POINTS)}
    target = known.get(name, name)
    module, colon, attribute = target.partition(":")
    if not colon:
        raise InvalidDefinitionError(f"there is no kind of pipeline {name!r}; there are {', '.join(sorted(known))}")
    try:
        kind: Kind = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError) as error:
        raise InvalidDefinitionError(f"the kind of pipeline {name!r} can't be loaded: {error}") from None
    return kind
