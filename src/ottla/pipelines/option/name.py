"""The options there are: one declaration each, from which come the check for unknown names and the reference page.

Names are those of Spark's Kafka connector; `is_ours` marks those which it does not have. Spark hands options over in
lower case, so names are told apart without regard to case, and shown as they are declared here.
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Flag, auto
from typing import Final

from ottla.pipelines.option.errors import OptionError

KAFKA_PREFIX: Final = "kafka."
"""The prefix of settings of a Kafka client."""

REGISTRY_PREFIX: Final = "schema.registry."
"""The prefix of settings of a registry's client."""


class Use(Flag):
    """The reads and writes in which an option has a meaning."""

    BATCH_READ = auto()
    STREAM_READ = auto()
    BATCH_WRITE = auto()
    STREAM_WRITE = auto()
    READ = BATCH_READ | STREAM_READ
    WRITE = BATCH_WRITE | STREAM_WRITE


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name, where it may be given, its default as text, and what it does."""

    name: str
    use: Use
    default: str
    doc: str
    is_ours: bool = False


OPTIONS: Final = (
    Option("subscribe", Use.READ, "", "Topics to read, separated by commas."),
    Option("subscribePattern", Use.READ, "",
           "A regular expression; all topics whose whole name it matches are read, also those made later."),
    Option("assign", Use.READ, "", 'Partitions to read: `{"topic":[0,1]}`.'),
    Option("startingOffsets", Use.READ, "latest (stream), earliest (batch)",
           '`earliest`, `latest`, or `{"topic":{"0":23,"1":-2}}` for every partition, -2 for earliest, -1 for latest. '
           "A stream that has a checkpoint goes on from there instead."),
    Option("startingTimestamp", Use.READ, "",
           "Milliseconds since 1970: every partition is read from its first record of that time or later."),
    Option("startingOffsetsByTimestamp", Use.READ, "", 'The same for each partition: `{"topic":{"0":1700000000000}}`.'),
    Option("startingOffsetsByTimestampStrategy", Use.READ, "error",
           "What to do where no record is that late: `error`, or `latest` to begin at the end."),
    Option("endingOffsets", Use.BATCH_READ, "latest",
           '`latest`, or `{"topic":{"0":50,"1":-1}}` for every partition: the offset after the last one to read.'),
    Option("endingTimestamp", Use.BATCH_READ, "",
           "Milliseconds since 1970: every partition is read up to its first record of that time or later."),
    Option("endingOffsetsByTimestamp", Use.BATCH_READ, "",
           'The same for each partition: `{"topic":{"0":1700000000000}}`.'),
    Option("failOnDataLoss", Use.READ, "true",
           "Whether a query ends with an error when records it should have read are gone, or goes on with a warning."),
    Option("minPartitions", Use.READ, "", "Tasks to make at least: large ranges are split."),
    Option("maxRecordsPerPartition", Use.READ, "", "Offsets that one task reads at most."),
    Option("maxOffsetsPerTrigger", Use.READ, "",
           "Offsets that one micro-batch takes in at most: half shared alike by partitions with a backlog, half by "
           "what waits in each."),
    Option("minOffsetsPerTrigger", Use.READ, "",
           "Offsets that a micro-batch waits for, up to `maxTriggerDelay`; not with availableNow."),
    Option("maxTriggerDelay", Use.READ, "15m", "How long `minOffsetsPerTrigger` may hold a micro-batch back."),
    Option("includeHeaders", Use.READ, "false", "Whether there is a column `headers`."),
    Option("groupIdPrefix", Use.READ, "spark-kafka-source",
           "The `client.id` that brokers see, unless `kafka.client.id` says it."),
    Option("kafkaConsumer.pollTimeoutMs", Use.READ, "120000", "How long a task waits for records that should exist."),
    Option("fetchOffset.numRetries", Use.READ, "3",
           "How often offsets are asked for again when they went back, before that counts as lost data."),
    Option("fetchOffset.retryIntervalMs", Use.READ, "10", "The pause before offsets are asked for again."),
    Option("partition.metadata.cache.ttl.ms", Use.READ, "-1",
           "How long to believe that there are no new partitions; -1 looks every time."),
    Option("group.id", Use.STREAM_READ, "",
           "The offsets of finished micro-batches are committed to this group, so that any tool shows the lag.",
           is_ours=True),
    Option("isolation.level", Use.READ, "read_committed",
           "`read_committed` leaves out aborted transactions and stops before open ones; `read_uncommitted` does not.",
           is_ours=True),
    Option("value.format", Use.READ | Use.WRITE, "binary",
           "`binary`, or `avro`, `jsonschema`, `protobuf`: values are records with a schema registry, and the column "
           "has their fields.",
           is_ours=True),
    Option("key.format", Use.READ | Use.WRITE, "binary", "The same for keys.", is_ours=True),
    Option("schema.registry.url", Use.READ | Use.WRITE, "",
           "The registry's addresses; all `schema.registry.*` are settings of its client.", is_ours=True),
    Option("value.subject", Use.READ | Use.WRITE, "topic's name and -value",
           "The subject whose latest version is the schema, as it is when the query starts.", is_ours=True),
    Option("key.subject", Use.READ | Use.WRITE, "topic's name and -key", "The same for keys.", is_ours=True),
    Option("value.schema", Use.READ | Use.WRITE, "",
           "The schema itself, as text; a write registers it under the subject if it is not there.", is_ours=True),
    Option("key.schema", Use.READ | Use.WRITE, "", "The same for keys.", is_ours=True),
    Option("value.message", Use.READ | Use.WRITE, "the schema's first",
           "Of `protobuf`: the full name of the message.", is_ours=True),
    Option("key.message", Use.READ | Use.WRITE, "the schema's first", "The same for keys.", is_ours=True),
    Option("badRecords", Use.READ, "fail",
           "What a value or key becomes that can't be read: `fail` ends the query, `null`, or `column`: "
           "null, and why in `value_error` or `key_error`.", is_ours=True),
    Option("topic", Use.WRITE, "", "Where all rows are written; without it there has to be a column `topic`."),
    Option("exactlyOnce", Use.STREAM_WRITE, "false",
           "Whether each micro-batch is written in transactions, so that a repeated one writes nothing twice.",
           is_ours=True),
    Option("transactionalIdPrefix", Use.STREAM_WRITE, "ottla",
           "Begins the `transactional.id`s of `exactlyOnce`.", is_ours=True),
    Option("includeHeaders", Use.WRITE, "false", "Accepted: a column `headers` is written wherever there is one."),
    Option("checkpointLocation", Use.STREAM_READ | Use.STREAM_WRITE, "",
           "Spark's own: where a stream keeps its progress."),
    Option("queryName", Use.STREAM_WRITE, "", "Spark's own: what `writeStream.queryName` said."),
)  # fmt: skip


def named(use: Use) -> dict[str, Option]:
    """The options of one use, by their names in lower case."""
    return {option.name.lower(): option for option in OPTIONS if option.use & use}


def check_names(options: Mapping[str, str], use: Use) -> None:
    """Raises `OptionError` for the first option that has no meaning here, with what was probably meant."""
    known = named(use)
    for name in options:
        lowered = name.lower()
        if lowered in known or lowered.startswith((KAFKA_PREFIX, REGISTRY_PREFIX)):
            continue
        elsewhere = next((option for option in OPTIONS if option.name.lower() == lowered), None)
        if elsewhere is not None:
            raise OptionError(elsewhere.name, f"has no meaning for a {_words(use)}, only for a {_words(elsewhere.use)}")
        near = difflib.get_close_matches(lowered, [*known, "kafka.bootstrap.servers"], n=1)
        shown = known[near[0]].name if near and near[0] in known else near[0] if near else None
        raise OptionError(name, f"unknown; did you mean {shown!r}?" if shown else "unknown")


def _words(use: Use) -> str:
    words = {
        Use.READ: "read",
        Use.WRITE: "write",
        Use.BATCH_READ: "batch read",
        Use.STREAM_READ: "stream read",
        Use.BATCH_WRITE: "batch write",
        Use.STREAM_WRITE: "stream write",
    }
    return words.get(use) or " or ".join(_words(part) for part in use)
