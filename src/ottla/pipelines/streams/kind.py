"""The kind `streams`: a topology of the user's as a pipeline that a runner looks after.

    {"topology": "shop.counts:topology", "config": {"processing.guarantee": "exactly_once_v2"}}

`module:function` names a function without parameters that gives the topology, or a dictionary `config` with serdes and
handlers beside it: `module:function` returns either a topology or a pair of both.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ottla.base.config import ConfigError
from ottla.pipelines.runner.kind import InvalidDefinitionError, Place
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import StreamsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class StreamsKind:
    """A topology as a pipeline."""

    def check(self, definition: Mapping[str, Any]) -> None:
        """Raises `InvalidDefinitionError` for what can't work.

        >>> StreamsKind().check({"topology": "nonsense"})
        Traceback (most recent call last):
        ottla.pipelines.runner.kind.InvalidDefinitionError: 'topology' has to be module:function, not 'nonsense'
        """
        unknown = sorted(definition.keys() - {"topology", "config", "trigger.interval.ms"})
        if unknown:
            raise InvalidDefinitionError(f"{unknown[0]!r} is none of topology, config, trigger.interval.ms")
        target = definition.get("topology")
        if not isinstance(target, str) or not all(target.partition(":")):
            raise InvalidDefinitionError(f"'topology' has to be module:function, not {target!r}")
        if not isinstance(definition.get("config", {}), dict):
            raise InvalidDefinitionError("'config' has to be an object")

    def start(self, spark: "SparkSession", place: Place) -> "StreamingQuery":
        """Starts the query."""
        from ottla.pipelines.streams.query import ApplicationQuery
        from ottla.pipelines.streams.setting import StreamsSettings

        topology, config = topology_of(place.definition["topology"])
        config = {
            "application.id": place.name,
            **place.cluster,
            **config,
            **place.definition.get("config", {}),
            "state.dir": str(place.checkpoint.with_name(place.checkpoint.name + ".state")),
            "checkpoint.location": str(place.checkpoint),
        }
        try:
            query = ApplicationQuery(topology, config, StreamsSettings.of(config))
            return query.start(spark, place.trigger)
        except (ConfigError, StreamsError) as error:
            raise InvalidDefinitionError(str(error)) from error


def topology_of(target: str) -> tuple[Topology, dict[str, Any]]:
    """The topology of `module:function`, and configuration that is no JSON."""
    module, _, name = target.partition(":")
    try:
        made = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise InvalidDefinitionError(f"the topology {target!r} can't be loaded: {error}") from None
    topology, config = made if isinstance(made, tuple) else (made, {})
    if not isinstance(topology, Topology):
        raise InvalidDefinitionError(f"{target!r} gives a {type(topology).__name__}, not a topology")
    return topology, dict(config)
