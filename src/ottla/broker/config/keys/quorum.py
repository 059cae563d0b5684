"""The controllers' quorum and the metadata log; the log's segments and snapshots' age belong to `ottla.metadata`."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import BOOLEAN, INT, LIST, LONG, MIB, STRING, Items
from ottla.broker.config.keys.node_key import fixed, internal

_QUORUM_KEYS: Final = (
    fixed("controller.quorum.voters", LIST, (), Items(),
          "The voters of a static quorum: `id@host:port`, separated by commas; absent: the quorum is dynamic."),
    fixed("controller.quorum.bootstrap.servers", LIST, (), Items(),
          "`host:port` of some controllers, to find a dynamic quorum by."),
    fixed("controller.quorum.election.timeout.ms", INT, 1_000, Range(0),
          "A voter that waits this long for the outcome of an election starts another."),
    fixed("controller.quorum.fetch.timeout.ms", INT, 2_000, Range(0),
          "A follower that could not fetch for this long stands for election; a leader that no majority fetched from "
          "for half as long again resigns."),
    fixed("controller.quorum.election.backoff.max.ms", INT, 1_000, Range(0),
          "Longest pause between two elections."),
    fixed("controller.quorum.append.linger.ms", INT, 25, Range(0),
          "How long the leader gathers records before it writes them."),
    fixed("controller.quorum.request.timeout.ms", INT, 2_000, Range(0),
          "How long a request between quorum members may take."),
    fixed("controller.quorum.retry.backoff.ms", INT, 20, Range(0),
          "Pause before a failed request to a quorum member is sent again."),
    fixed("controller.quorum.auto.join.enable", BOOLEAN, False, None,
          "Whether a controller that is no voter makes itself one."),
    fixed("controller.quorum.fetch.snapshot.max.bytes", INT, MIB, Range(1),
          "Most bytes of a snapshot that one answer carries."),
    fixed("controller.quorum.fetch.max.bytes", INT, MIB, Range(1),
          "Most bytes of the metadata log that one answer carries."),
)  # fmt: skip

_METADATA_LOG_KEYS: Final = (
    fixed("metadata.log.dir", STRING, None, None,
          "Where the metadata log lives; absent: the first of the log directories."),
    fixed("metadata.log.max.record.bytes.between.snapshots", LONG, 20 * MIB, Range(1),
          "A snapshot is taken once the log has grown by this much."),
    fixed("metadata.log.max.snapshot.interval.ms", LONG, 3_600_000, Range(0),
          "A snapshot is taken once the last is this old and the log has grown; 0: age is no reason."),
    fixed("metadata.max.idle.interval.ms", INT, 500, Range(0),
          "The active controller writes an empty record when it wrote nothing for this long; 0: never."),
    internal("internal.metadata.log.segment.bytes", INT, None, None,
             "Stands in for `metadata.log.segment.bytes` without its lower limit."),
    internal("internal.metadata.max.batch.size.in.bytes", INT, 8 * MIB, None,
             "Largest batch of the metadata log."),
    internal("internal.metadata.delete.delay.millis", LONG, 60_000, None,
             "How long deleted files of the metadata log stay."),
)  # fmt: skip

_CONTROLLER_KEYS: Final = (
    internal("controller.performance.sample.period.ms", LONG, 60_000, Range(100),
             "How often the controller sums up how long its work takes."),
    internal("controller.performance.always.log.threshold.ms", LONG, 2_000, Range(0),
             "An event that takes the controller longer is logged at once."),
)  # fmt: skip

QUORUM_KEYS: Final = ConfigKeys((*_QUORUM_KEYS, *_METADATA_LOG_KEYS, *_CONTROLLER_KEYS))
