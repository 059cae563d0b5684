"""The declarations of every topic-level setting: Kafka 4.3's names, types, defaults and limits, and our own few.

Each key names the broker settings that provide its default; `broker_log_config_keys` declares those. What a setting
does is the business of the module that reads it from `LogConfig`.
"""

import re
from typing import Final

from ottla.base.config import ConfigKey, ConfigKeys, Dynamic, Scope, Synonym
from ottla.base.config.check import Check, OneOf, Range, RangeOr, Satisfying
from ottla.base.config_type import ConfigType

LONG_MAX: Final = (1 << 63) - 1
HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
WEEK_MS: Final = 7 * DAY_MS
MIB: Final = 1 << 20
LOCAL_RETENTION_FOLLOWS: Final = -2
"""Value of `local.retention.*` that means: whatever `retention.*` says."""

CLEANUP_POLICIES: Final = OneOf("compact", "delete")
COMPRESSION_TYPES: Final = OneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
TIMESTAMP_TYPES: Final = OneOf("CreateTime", "LogAppendTime")

_BOOLEAN, _STRING, _LIST = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.LIST
_INT, _LONG, _DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE


def _hours(name: str) -> Synonym:
    return Synonym(name, HOUR_MS)


def _throttled(name: str) -> Check:
    form = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    # An item may be empty: lists are often written with a comma behind the last one.
    pair = re.compile(r"([0-9]+:[0-9]+)?")
    return Satisfying(
        lambda value: isinstance(value, tuple) and ("".join(value) == "*" or all(map(pair.fullmatch, value))),
        text=form,
        reason=f"{name} must be the literal '*' or a list of replicas in the following format: {form}",
    )


def _topic(
    name: str, kind: ConfigType, default: object, check: Check | None, doc: str, *synonyms: str | Synonym
) -> ConfigKey:
    return ConfigKey(
        name,
        kind,
        default,
        doc=doc,
        scope=Scope.TOPIC,
        dynamic=Dynamic.CLUSTER_WIDE,
        check=check,
        synonyms=tuple(Synonym(item) if isinstance(item, str) else item for item in synonyms),
    )


_SEGMENT_KEYS: Final = (
    _topic("segment.bytes", _INT, 1 << 30, Range(MIB),
           "A segment that would grow past this size is closed and a new one begun.",
           "log.segment.bytes"),
    _topic("segment.ms", _LONG, WEEK_MS, Range(1),
           "A segment older than this is closed at the next append even if it is not full.",
           "log.roll.ms", _hours("log.roll.hours")),
    _topic("segment.jitter.ms", _LONG, 0, Range(0),
           "Up to this much is taken off `segment.ms` at random, so that many segments do not close at once.",
           "log.roll.jitter.ms", _hours("log.roll.jitter.hours")),
    _topic("segment.index.bytes", _INT, 10 * MIB, Range(4),
           "Room kept for a segment's offset index; a full index closes the segment.",
           "log.index.size.max.bytes"),
    _topic("index.interval.bytes", _INT, 4096, Range(0),
           "An index entry is written each time this many bytes of records were appended.",
           "log.index.interval.bytes"),
    _topic("preallocate", _BOOLEAN, False, None,
           "Reserve a segment's whole size on disk when it is created.",
           "log.preallocate"),
    _topic("file.delete.delay.ms", _LONG, 60_000, Range(0),
           "Deleted files stay on disk, renamed, for this long, so that readers under way can finish.",
           "log.segment.delete.delay.ms"),
)  # fmt: skip

_FLUSH_KEYS: Final = (
    _topic("flush.messages", _LONG, LONG_MAX, Range(1),
           "The log is forced to disk after this many records. 1 forces every append.",
           "log.flush.interval.messages"),
    _topic("flush.ms", _LONG, LONG_MAX, Range(0),
           "The log is forced to disk when this much time passed since the last time it was.",
           "log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ConfigKey("flush.on.ack", _BOOLEAN, False, scope=Scope.TOPIC, dynamic=Dynamic.CLUSTER_WIDE, extension=True,
              synonyms=(Synonym("log.flush.on.ack"),),
              doc="Acknowledge a produce only once it is on disk; appends made while a flush runs share the next."),
)  # fmt: skip

_RETENTION_KEYS: Final = (
    _topic("cleanup.policy", _LIST, ("delete",), CLEANUP_POLICIES,
           "`delete` drops old segments by age and size, `compact` keeps the last record of each key; "
           "both may be named; empty keeps everything.",
           "log.cleanup.policy"),
    _topic("retention.bytes", _LONG, -1, None,
           "With `delete`, oldest segments go while what is left still holds this much. -1: no limit by size.",
           "log.retention.bytes"),
    _topic("retention.ms", _LONG, WEEK_MS, Range(-1),
           "With `delete`, a segment goes once its newest record is older than this. -1: no limit by time.",
           "log.retention.ms", Synonym("log.retention.minutes", 60_000), _hours("log.retention.hours")),
    _topic("local.retention.bytes", _LONG, LOCAL_RETENTION_FOLLOWS, Range(-2),
           "For tiered topics: how much stays on the local disk. -2: as `retention.bytes`; -1: no limit.",
           "log.local.retention.bytes"),
    _topic("local.retention.ms", _LONG, LOCAL_RETENTION_FOLLOWS, Range(-2),
           "For tiered topics: how long a copied segment stays on the local disk. -2: as `retention.ms`; -1: no limit.",
           "log.local.retention.ms"),
    _topic("remote.storage.enable", _BOOLEAN, False, None,
           "Copy closed segments of this topic to the object store."),
    _topic("remote.log.copy.disable", _BOOLEAN, False, None,
           "Keep what the object store holds readable, but copy nothing more."),
    _topic("remote.log.delete.on.disable", _BOOLEAN, False, None,
           "Delete what the object store holds when `remote.storage.enable` is turned off."),
)  # fmt: skip

_COMPACTION_KEYS: Final = (
    _topic("delete.retention.ms", _LONG, DAY_MS, Range(0),
           "How long tombstones and transaction markers outlive the first compaction that could drop them, "
           "for readers under way.",
           "log.cleaner.delete.retention.ms"),
    _topic("min.compaction.lag.ms", _LONG, 0, Range(0),
           "Records stay uncompacted for at least this long.",
           "log.cleaner.min.compaction.lag.ms"),
    _topic("max.compaction.lag.ms", _LONG, LONG_MAX, Range(1),
           "Records stay uncompacted for at most this long, whatever the dirty ratio.",
           "log.cleaner.max.compaction.lag.ms"),
    _topic("min.cleanable.dirty.ratio", _DOUBLE, 0.5, Range(0, 1),
           "Share of the log that must be uncompacted before a compaction begins.",
           "log.cleaner.min.cleanable.ratio"),
)  # fmt: skip

_RECORD_KEYS: Final = (
    _topic("max.message.bytes", _INT, MIB + 12, Range(0),
           "Largest record batch the topic takes.",
           "message.max.bytes"),
    ConfigKey("decompressed.message.max.bytes", _INT, 100 * MIB, scope=Scope.TOPIC, dynamic=Dynamic.CLUSTER_WIDE,
              check=Range(MIB), extension=True, synonyms=(Synonym("log.decompressed.message.max.bytes"),),
              doc="Most bytes that a record batch may come to when it is decompressed; a larger one is refused."),
    _topic("compression.type", _STRING, "producer", COMPRESSION_TYPES,
           "`producer` keeps what came in; any other name recompresses on the broker.",
           "compression.type"),
    _topic("compression.gzip.level", _INT, -1, RangeOr(1, 9, -1),
           "Level when `compression.type` is gzip.",
           "compression.gzip.level"),
    _topic("compression.lz4.level", _INT, 9, Range(1, 17),
           "Level when `compression.type` is lz4.",
           "compression.lz4.level"),
    _topic("compression.zstd.level", _INT, 3, Range(-131072, 22),
           "Level when `compression.type` is zstd.",
           "compression.zstd.level"),
    _topic("message.timestamp.type", _STRING, "CreateTime", TIMESTAMP_TYPES,
           "Whether records keep the producer's time or get the broker's.",
           "log.message.timestamp.type"),
    _topic("message.timestamp.before.max.ms", _LONG, LONG_MAX, Range(0),
           "With CreateTime, how far behind the broker's clock a record's time may lie.",
           "log.message.timestamp.before.max.ms"),
    _topic("message.timestamp.after.max.ms", _LONG, HOUR_MS, Range(0),
           "With CreateTime, how far ahead of the broker's clock a record's time may lie.",
           "log.message.timestamp.after.max.ms"),
)  # fmt: skip

_REPLICATION_KEYS: Final = (
    _topic("min.insync.replicas", _INT, 1, Range(1),
           "With acks=all, a produce is taken only while at least this many replicas are in sync.",
           "min.insync.replicas"),
    _topic("unclean.leader.election.enable", _BOOLEAN, False, None,
           "Let a replica that is not in sync become leader when no other is left, losing what it lacks.",
           "unclean.leader.election.enable"),
    _topic("leader.replication.throttled.replicas", _LIST, (), _throttled("leader.replication.throttled.replicas"),
           "Replicas whose outgoing replication is throttled: `partition:broker` pairs, or `*`."),
    _topic("follower.replication.throttled.replicas", _LIST, (), _throttled("follower.replication.throttled.replicas"),
           "Replicas whose incoming replication is throttled: `partition:broker` pairs, or `*`."),
)  # fmt: skip

_INTERNAL_KEYS: Final = (
    ConfigKey("internal.segment.bytes", _INT, None, scope=Scope.TOPIC, dynamic=Dynamic.CLUSTER_WIDE, internal=True,
              doc="Stands in for `segment.bytes` without its lower limit, so that tests can use tiny segments."),
)  # fmt: skip

LOG_CONFIG_KEYS: Final = ConfigKeys(
    (*_SEGMENT_KEYS, *_FLUSH_KEYS, *_RETENTION_KEYS, *_COMPACTION_KEYS, *_RECORD_KEYS, *_REPLICATION_KEYS,
     *_INTERNAL_KEYS)
)  # fmt: skip
"""Every topic-level setting."""
