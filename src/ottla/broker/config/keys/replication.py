"""Replicas: how followers fetch, when they count as in sync, which of them lead, what waits for them."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, INT, LONG, MIB, STRING
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

_FOLLOWER_KEYS: Final = (
    fixed("replica.lag.time.max.ms", LONG, 30_000, None,
          "A follower that has not caught up with its leader for this long is no longer in sync."),
    fixed("replica.socket.timeout.ms", INT, 30_000, None,
          "How long a follower waits for the answer to a fetch."),
    fixed("replica.socket.receive.buffer.bytes", INT, 65_536, None,
          "The kernel's receive buffer of a follower's connection."),
    fixed("replica.fetch.max.bytes", INT, MIB, Range(0),
          "Bytes that a follower asks for in each partition."),
    fixed("replica.fetch.wait.max.ms", INT, 500, None,
          "How long a leader may hold a follower's fetch that finds nothing new."),
    fixed("replica.fetch.backoff.ms", INT, 1_000, Range(0),
          "Pause before a follower fetches a partition again that failed."),
    fixed("replica.fetch.min.bytes", INT, 1, None,
          "Bytes that a leader gathers before it answers a follower's fetch."),
    fixed("replica.fetch.response.max.bytes", INT, 10 * MIB, Range(0),
          "Bytes that a follower asks for in all."),
    cluster_wide("num.replica.fetchers", INT, 1, Range(1),
                 "Fetches that a broker has under way to each leader at once."),
    fixed("num.replica.alter.log.dirs.threads", INT, None, None,
          "Threads that move replicas between directories; absent: as many as there are directories."),
    fixed("replica.high.watermark.checkpoint.interval.ms", LONG, 5_000, None,
          "Time between two writes of the high watermarks to disk."),
    fixed("replica.selector.class", STRING, None, None,
          "Kafka's RackAwareReplicaSelector sends consumers to an in-sync replica in their rack; absent: the leader."),
    cluster_wide("follower.fetch.last.tiered.offset.enable", BOOLEAN, False, None,
                 "Whether an empty follower of a tiered topic begins behind what is tiered instead of at the start."),
)  # fmt: skip

_LEADER_KEYS: Final = (
    fixed("auto.leader.rebalance.enable", BOOLEAN, True, None,
          "Whether the controller gives leadership back to preferred replicas by itself."),
    fixed("leader.imbalance.check.interval.seconds", LONG, 300, Range(1),
          "Time between two looks for partitions that their preferred replica does not lead."),
    internal("unclean.leader.election.interval.ms", LONG, 300_000, Range(1),
             "Time between two looks for partitions that may get a leader that is not in sync."),
    fixed("controller.socket.timeout.ms", INT, 30_000, None,
          "How long a broker waits for the controller's answer."),
)  # fmt: skip

_PURGATORY_KEYS: Final = (
    fixed("fetch.purgatory.purge.interval.requests", INT, 1000, None,
          "Finished fetches among those that wait at which they are swept out."),
    fixed("producer.purgatory.purge.interval.requests", INT, 1000, None,
          "Finished produce requests among those that wait at which they are swept out."),
    fixed("delete.records.purgatory.purge.interval.requests", INT, 1, None,
          "Finished DeleteRecords requests among those that wait at which they are swept out."),
)  # fmt: skip

REPLICATION_KEYS: Final = ConfigKeys((*_FOLLOWER_KEYS, *_LEADER_KEYS, *_PURGATORY_KEYS))
