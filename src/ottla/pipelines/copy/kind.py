"""The kind `copy`: the records of some topics, filtered and transformed by columns, into others.

A definition:

    {"from": "orders", "to": "orders.eu", "where": "key is not null",
     "select": {"value": "upper(cast(value as string))"}, "exactly.once": true}

Expressions are Spark SQL over the columns of `format("ottla")`. Columns that are not selected are copied as they are:
key, value, headers and time. The partition is that of the key unless `"partition": "keep"`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ottla.pipelines.runner.kind import InvalidDefinitionError, Place

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_COPIED: Final = ("key", "value", "headers", "timestamp")
_TOPIC: Final = "${topic}"
_TEXTS: Final = ("from", "from.pattern", "to", "where", "starting.offsets", "group.id", "partition")
_KNOWN: Final = frozenset(
    {*_TEXTS, "select", "exactly.once", "trigger.interval.ms", "max.offsets.per.trigger", "source", "target"}
)


class CopyKind:
    """From topics to topics of the same or of another cluster."""

    def check(self, definition: Mapping[str, Any]) -> None:
        """Raises `InvalidDefinitionError` for what can't work.

        >>> CopyKind().check({"from": "orders"})
        Traceback (most recent call last):
        ottla.pipelines.runner.kind.InvalidDefinitionError: 'to': there has to be one: a topic, such as 'b' or \
'${topic}.copy'
        """
        unknown = sorted(definition.keys() - _KNOWN)
        if unknown:
            raise InvalidDefinitionError(f"{unknown[0]!r} is none of {', '.join(sorted(_KNOWN))}")
        for name in _TEXTS:
            if name in definition and not isinstance(definition[name], str):
                raise InvalidDefinitionError(f"{name!r} has to be a text")
        if ("from" in definition) == ("from.pattern" in definition):
            raise InvalidDefinitionError("there has to be 'from', topics with commas between, or 'from.pattern'")
        if not definition.get("to"):
            raise InvalidDefinitionError("'to': there has to be one: a topic, such as 'b' or '${topic}.copy'")
        if definition.get("partition", "key") not in {"key", "keep"}:
            raise InvalidDefinitionError("'partition' has to be key or keep")
        for name in ("select", "source", "target"):
            if not _is_texts(definition.get(name, {})):
                raise InvalidDefinitionError(f"{name!r} has to be an object of texts")
        unselectable = sorted(definition.get("select", {}).keys() - {*_COPIED, "partition"})
        if unselectable:
            raise InvalidDefinitionError(f"'select': {unselectable[0]!r} is none of {', '.join(_COPIED)}, partition")
        if not isinstance(definition.get("exactly.once", True), bool):
            raise InvalidDefinitionError("'exactly.once' has to be true or false")

    def start(self, spark: "SparkSession", place: Place) -> "StreamingQuery":
        """Starts the query."""
        definition = place.definition
        return (
            _rows(_records(spark, place), definition)
            .writeStream.format("ottla")
            .queryName(place.name)
            .options(**place.cluster_options(definition.get("target")))
            .option("exactlyOnce", str(definition.get("exactly.once", True)).lower())
            .option("checkpointLocation", str(place.checkpoint))
            .outputMode("append")
            .trigger(processingTime=place.trigger)
            .start()
        )


def _is_texts(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


def _records(spark: "SparkSession", place: Place) -> "DataFrame":
    definition = place.definition
    # What another cluster's settings say replaces ours; the isolation can still be chosen.
    settings = {"isolation.level": "read_committed", **definition.get("source", {})}
    subscription = {"subscribe": definition["from"]} if "from" in definition else {
        "subscribePattern": definition["from.pattern"]
    }  # fmt: skip
    options = {
        **place.cluster_options(settings),
        **subscription,
        "startingOffsets": definition.get("starting.offsets", "earliest"),
        "group.id": definition.get("group.id", f"ottla-pipeline-{place.name}"),
        "includeHeaders": "true",
    }
    if "max.offsets.per.trigger" in definition:
        options["maxOffsetsPerTrigger"] = str(definition["max.offsets.per.trigger"])
    return spark.readStream.format("ottla").options(**options).load()


def _rows(records: "DataFrame", definition: Mapping[str, Any]) -> "DataFrame":
    from pyspark.sql import functions

    if "where" in definition:
        records = records.where(definition["where"])
    chosen: dict[str, Column] = {name: functions.col(name) for name in _COPIED}
    if definition.get("partition") == "keep":
        chosen["partition"] = functions.col("partition")
    for name, expression in definition.get("select", {}).items():
        chosen[name] = functions.expr(expression)
    columns = [column.alias(name) for name, column in chosen.items()]
    return records.select(*columns, _target(definition["to"]).alias("topic"))


def _target(template: str) -> "Column":
    """The topic of each row: `${topic}` in the template is the one that it was read from."""
    from pyspark.sql import functions

    parts: Sequence[str] = re.split(f"({re.escape(_TOPIC)})", template)
    found = [functions.col("topic") if part == _TOPIC else functions.lit(part) for part in parts if part]
    return functions.concat(*found)
