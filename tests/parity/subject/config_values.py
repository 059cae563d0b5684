"""Values of configs, one by one: which are taken, and how the others are refused. Nothing is changed."""

from collections.abc import Mapping

from tests.parity.subject.configs import BROKER, CLIENT_METRICS, GROUP, SET, SUBTRACT, TOPIC, increment
from tests.parity.talk import Talk

_OF_TOPICS = {
    "cleanup.policy": ("", "compact,compact", "compact,nonsense", "delete,", " compact , delete ", ",", "none"),
    "retention.ms": ("", "-1", "-2", " 5000 ", "1e3", "0x10", "9223372036854775808", "5.0"),
    "segment.bytes": ("1048575", "1048576", "99999999999", "-1"),
    "max.message.bytes": ("0", "-1"),
    "compression.type": ("GZIP", "none", "uncompressed", ""),
    "compression.gzip.level": ("-1", "0", "1", "9", "10"),
    "compression.lz4.level": ("0", "1", "17", "18"),
    "compression.zstd.level": ("-131073", "-131072", "0", "22", "23"),
    "message.timestamp.type": ("createtime", "LogAppendTime"),
    "min.insync.replicas": ("0", "1", "2"),
    "unclean.leader.election.enable": ("TRUE", "yes", "1", ""),
    "preallocate": ("true", "1"),
    "min.cleanable.dirty.ratio": ("0", "1", "-0.1", "1.1", "NaN", "half"),
    "leader.replication.throttled.replicas": ("", "*", "0:1,", "0:1,1:1", "*,0:1", "0:1,x", "0:-1", " 0:1 , 1:1 "),
    "follower.replication.throttled.replicas": ("0:1:2", "*"),
    "flush.messages": ("0", "1", "9223372036854775808"),
    "flush.ms": ("-1", "0"),
    "segment.ms": ("0", "1"),
    "segment.jitter.ms": ("-1", "0"),
    "segment.index.bytes": ("3", "4"),
    "index.interval.bytes": ("-1", "0"),
    "delete.retention.ms": ("-1", "0"),
    "file.delete.delay.ms": ("-1", "0"),
    "min.compaction.lag.ms": ("-1", "5"),
    "max.compaction.lag.ms": ("0", "1"),
    "local.retention.ms": ("-3", "-2", "-1", "5"),
    "local.retention.bytes": ("-3", "-2", "-1", "5"),
    "message.timestamp.before.max.ms": ("-1", "0"),
    "message.timestamp.after.max.ms": ("-1", "0"),
    "": ("1",),
}
_OF_BROKERS = {
    "log.retention.ms": ("-2", "0", "x"),
    "log.cleaner.threads": ("0", "1", "9"),
    "num.io.threads": ("0", "3", "4", "16", "17", "x"),
    "num.network.threads": ("1", "9"),
    "background.threads": ("1", "30"),
    "message.max.bytes": ("-1", "0"),
    "max.connections.per.ip": ("-1",),
    "log.segment.bytes": ("5",),
    "log.cleanup.policy": ("", "nonsense", "compact,compact"),
    "compression.type": ("nonsense",),
    "follower.replication.throttled.rate": ("-1", "0", "x"),
    "unclean.leader.election.enable": ("maybe",),
    "log.local.retention.ms": ("-1", "5"),
    "num.partitions": ("3",),
    "log.dirs": ("/x",),
}
_OF_GROUPS = {
    "consumer.session.timeout.ms": ("1", "44999", "45000", "60001", "x", ""),
    "consumer.heartbeat.interval.ms": ("0", "4999", "15001", "60000"),
    "share.session.timeout.ms": ("1", "60001"),
    "share.heartbeat.interval.ms": ("1", "15001"),
    "share.record.lock.duration.ms": ("1", "60001"),
    "share.auto.offset.reset": (
        "earliest",
        "nonsense",
        "",
        "by_duration:PT1H",
        "by_duration:soon",
    ),
    "share.isolation.level": ("read_committed", "READ_COMMITTED", "nonsense"),
    "streams.num.standby.replicas": ("-1", "1", "9"),
    "streams.session.timeout.ms": ("1",),
    "no.such.config": ("1",),
}
_OF_CLIENT_METRICS = {
    "interval.ms": ("0", "99", "100", "3600000", "3600001", "x", ""),
    "metrics": ("", "*", "a,b", "a,,b", "a,a"),
    "match": ("", "client_id", "client_id=", "client_id=x", "client_id=[", "no_such=x", "client_id=x,client_id=y"),
    "no.such.config": ("1",),
}


def run(talk: Talk) -> None:
    """Every value by itself."""
    talk.topic("values")
    _ask(talk, TOPIC, "values", _OF_TOPICS)
    _ask(talk, BROKER, "1", _OF_BROKERS)
    _ask(talk, GROUP, "values", _OF_GROUPS)
    _ask(talk, CLIENT_METRICS, "values", _OF_CLIENT_METRICS)
    for key, change in (
        ("compaction lags", (("min.compaction.lag.ms", SET, "5"), ("max.compaction.lag.ms", SET, "3"))),
        ("local retention", (("retention.ms", SET, "4"), ("local.retention.ms", SET, "5"))),
        ("local retention in bytes", (("retention.bytes", SET, "4"), ("local.retention.bytes", SET, "5"))),
        ("the only policy gone", (("cleanup.policy", SUBTRACT, "delete"),)),
    ):
        talk.ask(f"together: {key}", increment(TOPIC, "values", *change, validate=True), 1)


def _ask(talk: Talk, kind: int, name: str, values: Mapping[str, tuple[str, ...]]) -> None:
    for key, tried in values.items():
        for value in tried:
            wish = increment(kind, name, (key, SET, value), validate=True)
            talk.ask(f"type {kind}: {key}={value!r}", wish, 1)
