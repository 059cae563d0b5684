"""All settings of a consumer."""

import re
from typing import Final

from ottla.base.config import REQUIRED, ConfigKey, ConfigKeys, Scope
from ottla.base.config.check import Matching, NonEmpty, OneOf, Range
from ottla.base.config.declaration import BOOLEAN, CLASS, INT, LIST, LONG, MINUTE_MS, STRING, AnyCase, Items
from ottla.client.config.client_key import key
from ottla.client.config.network import NETWORK_KEYS
from ottla.client.config.security import SECURITY_KEYS

_RESET: Final = Matching(
    re.compile(r"latest|earliest|none|by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"),
    "[latest, earliest, none, by_duration:PnDTnHnMn.nS]",
    "must be `latest`, `earliest`, `none` or `by_duration:PnDTnHnMn.nS`",
)

_CONNECTION_KEYS: Final = (
    key("bootstrap.servers", LIST, REQUIRED, Items(1),
        "Brokers to ask for all the others: `host:port`, separated by commas; two or three are enough."),
    key("connections.max.idle.ms", LONG, 9 * MINUTE_MS, None, "Time after which an unused connection is closed."),
    key("receive.buffer.bytes", INT, 65_536, Range(-1),
        "Size of the socket's receive buffer; the system's own growing buffer at -1, and unless this is given."),
    key("enable.metrics.push", BOOLEAN, True, None,
        "Whether brokers may collect the client's metrics (KIP-714); accepted, none are sent."),
    key("default.api.timeout.ms", INT, MINUTE_MS, Range(0), "How long a call takes at most that names no time-out."),
    key("client.rack", STRING, "", None, "Where the consumer stands: a replica of the same rack is read (KIP-392)."),
    key("allow.auto.create.topics", BOOLEAN, True, None,
        "Whether subscribing to a topic that is not there makes it, if the brokers allow it."),
)  # fmt: skip

_FETCH_KEYS: Final = (
    key("fetch.min.bytes", INT, 1, Range(0), "Bytes that a broker waits for before it answers."),
    key("fetch.max.bytes", INT, 50 << 20, Range(0), "Bytes that an answer has at most, if its first batch fits."),
    key("fetch.max.wait.ms", INT, 500, Range(0), "How long a broker waits for `fetch.min.bytes` at most."),
    key("max.partition.fetch.bytes", INT, 1 << 20, Range(0),
        "Bytes of one partition that an answer has at most, if its first batch fits."),
    key("max.poll.records", INT, 500, Range(1), "Records that one `poll` returns at most."),
    key("check.crcs", BOOLEAN, True, None, "Whether the checksum of each batch is tested."),
    key("isolation.level", STRING, "read_uncommitted", OneOf("read_committed", "read_uncommitted"),
        "`read_committed` returns the records of a transaction once it is committed, and none of aborted ones."),
    key("auto.offset.reset", STRING, "latest", _RESET,
        "Where reading begins without a committed offset; `none` is an error."),
)  # fmt: skip

_GROUP_KEYS: Final = (
    key("group.id", STRING, None, None, "The group that shares the work; needed to subscribe and to commit."),
    key("group.instance.id", STRING, None, NonEmpty("non-empty string"),
        "A name that outlives the process: a member that comes back in time keeps its partitions (KIP-345)."),
    key("group.protocol", STRING, "classic", AnyCase(("CLASSIC", "CONSUMER")),
        "`classic` lets a member assign partitions, `consumer` the broker (KIP-848)."),
    key("group.remote.assignor", STRING, None, None, "The broker's assignor, with the consumer protocol."),
    key("partition.assignment.strategy", LIST, ("range", "cooperative-sticky"), Items(),
        "Assignors of the classic protocol, the one most wanted first: names, objects, classes or `module:Class`."),
    key("session.timeout.ms", INT, 45_000, None, "Silence after which the broker takes a member for dead."),
    key("heartbeat.interval.ms", INT, 3_000, None, "Time between two signs of life."),
    key("max.poll.interval.ms", INT, 5 * MINUTE_MS, Range(1),
        "Time between two `poll`s after which a member leaves the group, since its user seems stuck."),
    key("enable.auto.commit", BOOLEAN, True, None, "Whether offsets are committed in the course of `poll`."),
    key("auto.commit.interval.ms", INT, 5_000, Range(0), "How often they are."),
    key("exclude.internal.topics", BOOLEAN, True, None, "Whether patterns pass over the brokers' own topics."),
)  # fmt: skip

_SHARE_KEYS: Final = (
    key("share.acknowledgement.mode", STRING, "implicit", OneOf("implicit", "explicit"),
        "Whether records of a share group count as done at the next `poll`, or when they are acknowledged."),
    key("share.acquire.mode", STRING, "batch_optimized", AnyCase(("BATCH_OPTIMIZED", "RECORD_LIMIT")),
        "Whether a share group's fetch takes whole batches or keeps to the number of records."),
)  # fmt: skip

_PLUGIN_KEYS: Final = (
    key("key.deserializer", CLASS, None, None,
        "Makes keys of bytes: an object, a class, a callable or `module:Class`; without one, bytes stay bytes."),
    key("value.deserializer", CLASS, None, None, "Makes values of bytes, as `key.deserializer` does keys."),
    key("interceptor.classes", LIST, (), Items(), "Objects or classes that see records before `poll` returns them."),
    ConfigKey("internal.throw.on.fetch.stable.offset.unsupported", BOOLEAN, False, scope=Scope.CLIENT, internal=True,
              doc="Whether committed offsets are an error where brokers can't tell pending transactions."),
)  # fmt: skip

CONSUMER_KEYS: Final = (
    ConfigKeys((*_CONNECTION_KEYS, *_FETCH_KEYS, *_GROUP_KEYS, *_SHARE_KEYS, *_PLUGIN_KEYS))
    | NETWORK_KEYS
    | SECURITY_KEYS
)
