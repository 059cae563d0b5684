"""Sockets, connections and requests: buffers, limits, queues, threads."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import INT, INT_MAX, LONG, STRING
from ottla.broker.config.keys.node_key import cluster_wide, fixed

_SOCKET_KEYS: Final = (
    fixed("socket.send.buffer.bytes", INT, 102_400, None,
          "The kernel's send buffer of a connection; -1 leaves it to the system."),
    fixed("socket.receive.buffer.bytes", INT, 102_400, None,
          "The kernel's receive buffer of a connection; -1 leaves it to the system."),
    fixed("socket.request.max.bytes", INT, 104_857_600, Range(1),
          "Largest request that is taken; a connection that announces a larger one is closed."),
    fixed("socket.listen.backlog.size", INT, 50, Range(1),
          "Connections that may wait to be accepted; 1024 always may."),
    fixed("socket.connection.setup.timeout.ms", LONG, 10_000, None,
          "How long connecting to another node may take at the first try; it doubles with each failure."),
    fixed("socket.connection.setup.timeout.max.ms", LONG, 30_000, None,
          "How long connecting to another node may take at most."),
)  # fmt: skip

_CONNECTION_KEYS: Final = (
    cluster_wide("max.connections", INT, INT_MAX, Range(0),
                 "Connections that the broker, or with a listener's prefix that listener, keeps open at once."),
    cluster_wide("max.connections.per.ip", INT, INT_MAX, Range(0),
                 "Connections that one address may have open at once."),
    cluster_wide("max.connections.per.ip.overrides", STRING, "", None,
                 "Other limits for single addresses: `host:number`, separated by commas."),
    cluster_wide("max.connection.creation.rate", INT, INT_MAX, Range(0),
                 "Connections that the broker, or a listener, accepts in a second."),
    fixed("connections.max.idle.ms", LONG, 600_000, None,
          "A connection on which nothing happened for this long is closed; negative: never."),
    fixed("connection.failed.authentication.delay.ms", INT, 100, Range(0),
          "Pause before a connection that failed to authenticate is closed, against guessing."),
)  # fmt: skip

_REQUEST_KEYS: Final = (
    fixed("queued.max.requests", INT, 500, Range(1),
          "Requests that may wait for a thread before reading from sockets stops."),
    fixed("queued.max.request.bytes", LONG, -1, None,
          "Bytes of requests under way above which reading from sockets stops; -1: no limit."),
    cluster_wide("num.network.threads", INT, 3, Range(1),
                 "Threads that read and write sockets."),
    cluster_wide("num.io.threads", INT, 8, Range(1),
                 "Threads that check large compressed batches, no more than there are cores."),
    cluster_wide("background.threads", INT, 10, Range(1),
                 "Threads for work that no client waits for."),
    fixed("request.timeout.ms", INT, 30_000, None,
          "How long a node waits for the answer of another."),
    fixed("fetch.max.bytes", INT, 57_671_680, Range(1024),
          "Most bytes that a fetch gets, whatever it asks for; a first batch that is larger is sent all the same."),
    fixed("max.incremental.fetch.session.cache.slots", INT, 1000, Range(0),
          "Fetch sessions that are remembered, so that a fetch need only name what changed."),
    fixed("max.request.partition.size.limit", INT, 2000, Range(1),
          "Partitions that one DescribeTopicPartitions answer lists at most."),
)  # fmt: skip

CONNECTION_KEYS: Final = ConfigKeys((*_SOCKET_KEYS, *_CONNECTION_KEYS, *_REQUEST_KEYS))
