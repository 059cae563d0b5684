"""Share groups on the broker's side: their limits, record locks, and the coordinator that keeps their state."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import INT, LIST, MIB, SHORT, STRING, Items
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

_GROUP_KEYS: Final = (
    fixed("group.share.session.timeout.ms", INT, 45_000, Range(1),
          "A member of a share group that was silent for this long is removed."),
    fixed("group.share.min.session.timeout.ms", INT, 45_000, Range(1),
          "Shortest session time-out that a share group may set."),
    fixed("group.share.max.session.timeout.ms", INT, 60_000, Range(1),
          "Longest session time-out that a share group may set."),
    fixed("group.share.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Time between two heartbeats that members of share groups are told."),
    fixed("group.share.min.heartbeat.interval.ms", INT, 5_000, Range(1),
          "Shortest heartbeat interval that a share group may set."),
    fixed("group.share.max.heartbeat.interval.ms", INT, 15_000, Range(1),
          "Longest heartbeat interval that a share group may set."),
    fixed("group.share.max.size", INT, 200, Range(1, 1000),
          "Most members of a share group."),
    fixed("group.share.assignors", LIST, ("simple",), Items(1),
          "Assignors of share groups; there can be one."),
    cluster_wide("group.share.assignment.interval.ms", INT, 1_000, Range(0),
                 "Shortest time between two assignments of a share group."),
    fixed("group.share.min.assignment.interval.ms", INT, 0, Range(0),
          "Shortest assignment interval that a share group may set."),
    fixed("group.share.max.assignment.interval.ms", INT, 15_000, Range(0),
          "Longest assignment interval that a share group may set."),
    internal("group.share.initialize.retry.interval.ms", INT, 30_000, Range(1),
             "Time before the state of a share group's partition is initialized again after a failure."),
)  # fmt: skip

_RECORD_KEYS: Final = (
    fixed("group.share.delivery.count.limit", INT, 5, Range(2, 10),
          "How often a record is delivered before it is given up."),
    fixed("group.share.max.delivery.count.limit", INT, 10, Range(5, 25),
          "Largest delivery count limit that a share group may set."),
    fixed("group.share.min.delivery.count.limit", INT, 2, Range(2, 5),
          "Smallest delivery count limit that a share group may set."),
    fixed("group.share.record.lock.duration.ms", INT, 30_000, Range(1_000, 3_600_000),
          "How long a delivered record stays with its consumer before others may get it."),
    fixed("group.share.min.record.lock.duration.ms", INT, 15_000, Range(1_000, 30_000),
          "Shortest lock duration that a share group may set."),
    fixed("group.share.max.record.lock.duration.ms", INT, 60_000, Range(30_000, 3_600_000),
          "Longest lock duration that a share group may set."),
    fixed("group.share.partition.max.record.locks", INT, 2_000, Range(100, 10_000),
          "Records of a partition that may be with consumers at once."),
    fixed("group.share.max.partition.max.record.locks", INT, 4_000, Range(2_000, 10_000),
          "Largest number of record locks that a share group may set."),
    fixed("group.share.min.partition.max.record.locks", INT, 100, Range(100, 2_000),
          "Smallest number of record locks that a share group may set."),
    fixed("share.fetch.purgatory.purge.interval.requests", INT, 1000, None,
          "Finished share fetches among those that wait at which they are swept out."),
    fixed("group.share.max.share.sessions", INT, 2_000, Range(1),
          "Share sessions that a broker remembers."),
    internal("group.share.persister.class.name", STRING,
             "org.apache.kafka.server.share.persister.DefaultStatePersister", None,
             "The class that keeps the state of share groups."),
)  # fmt: skip

_COORDINATOR_KEYS: Final = (
    fixed("share.coordinator.state.topic.num.partitions", INT, 50, Range(1),
          "Partitions of `__share_group_state`; not to be changed once it is made."),
    fixed("share.coordinator.state.topic.replication.factor", SHORT, 3, Range(1),
          "Replicas of `__share_group_state`; the topic is made once that many brokers are there."),
    fixed("share.coordinator.state.topic.min.isr", SHORT, 2, Range(1),
          "`min.insync.replicas` of `__share_group_state`."),
    fixed("share.coordinator.state.topic.segment.bytes", INT, 100 * MIB, Range(1),
          "Segment size of `__share_group_state`."),
    fixed("share.coordinator.threads", INT, 1, Range(1),
          "Threads that run share coordinators."),
    fixed("share.coordinator.snapshot.update.records.per.snapshot", INT, 500, Range(0, 500),
          "Updates that are written between two snapshots of a partition's state."),
    fixed("share.coordinator.load.buffer.size", INT, 5 * MIB, Range(1),
          "Bytes read at once when a share coordinator loads its partition."),
    fixed("share.coordinator.state.topic.compression.codec", INT, 0, None,
          "Compression of what is written to `__share_group_state`, by its number in record batches."),
    fixed("share.coordinator.append.linger.ms", INT, -1, Range(-1),
          "How long a share coordinator gathers records before it writes them; -1: as long as there is more to do."),
    fixed("share.coordinator.write.timeout.ms", INT, 5_000, Range(1),
          "How long a write of a share coordinator may wait for replicas."),
    internal("share.coordinator.state.topic.prune.interval.ms", INT, 300_000, Range(1),
             "How often state that is no longer needed is cut off."),
    internal("share.coordinator.cold.partition.snapshot.interval.ms", INT, 300_000, Range(1),
             "How often idle partitions get a snapshot."),
    cluster_wide("share.coordinator.cached.buffer.max.bytes", INT, MIB + 12, Range(524_288),
                 "Largest write buffer that a share coordinator keeps for the next time."),
)  # fmt: skip

SHARE_GROUP_KEYS: Final = ConfigKeys((*_GROUP_KEYS, *_RECORD_KEYS, *_COORDINATOR_KEYS))
