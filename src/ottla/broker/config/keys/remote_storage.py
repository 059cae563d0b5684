"""Tiered storage on the broker's side (KIP-405): the object store, what knows its contents, threads and rates."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import NonEmpty, Range
from ottla.base.config.declaration import BOOLEAN, DOUBLE, INT, LONG, LONG_MAX, STRING
from ottla.broker.config.keys.node_key import cluster_wide, fixed, internal

STORAGE_MANAGER_PREFIX: Final = "rsm.config."
METADATA_MANAGER_PREFIX: Final = "rlmm.config."
_TOPIC_BASED: Final = "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"

_PLUGIN_KEYS: Final = (
    fixed("remote.log.storage.system.enable", BOOLEAN, False, None,
          "Whether this broker serves tiered topics at all."),
    fixed("remote.log.storage.manager.impl.prefix", STRING, STORAGE_MANAGER_PREFIX, NonEmpty(),
          "Beginning of the names of settings that are meant for the object store's plugin."),
    fixed("remote.log.metadata.manager.impl.prefix", STRING, METADATA_MANAGER_PREFIX, NonEmpty(),
          "Beginning of the names of settings that are meant for the plugin that knows the object store's contents."),
    fixed("remote.log.storage.manager.class.name", STRING, None, NonEmpty(),
          "The plugin that reads and writes the object store."),
    fixed("remote.log.storage.manager.class.path", STRING, None, None,
          "Where that plugin is loaded from."),
    fixed("remote.log.metadata.manager.class.name", STRING, _TOPIC_BASED, NonEmpty(),
          "The plugin that knows which segments the object store holds."),
    fixed("remote.log.metadata.manager.class.path", STRING, None, None,
          "Where that plugin is loaded from."),
    fixed("remote.log.metadata.manager.listener.name", STRING, None, NonEmpty(),
          "The listener on which that plugin reaches the brokers."),
    fixed("remote.log.metadata.custom.metadata.max.bytes", INT, 128, Range(0),
          "Most bytes that the object store's plugin may note about a segment."),
)  # fmt: skip

_WORK_KEYS: Final = (
    cluster_wide("remote.log.index.file.cache.total.size.bytes", LONG, 1 << 30, Range(1),
                 "Disk space for indexes that were fetched from the object store."),
    internal("remote.log.index.file.cache.ttl.ms", LONG, 900_000, Range(-1),
             "How long a fetched index is kept without being used."),
    fixed("remote.log.manager.thread.pool.size", INT, 2, Range(1),
          "Threads for tiered topics that this broker follows; the older name."),
    cluster_wide("remote.log.manager.copier.thread.pool.size", INT, 10, Range(1),
                 "Threads that copy segments to the object store."),
    cluster_wide("remote.log.manager.expiration.thread.pool.size", INT, 10, Range(1),
                 "Threads that delete segments from the object store."),
    cluster_wide("remote.log.manager.follower.thread.pool.size", INT, 2, Range(1),
                 "Threads for tiered topics that this broker follows."),
    fixed("remote.log.manager.task.interval.ms", LONG, 30_000, Range(1),
          "Time between two looks for segments to copy or delete."),
    internal("remote.log.manager.task.retry.backoff.ms", LONG, 500, Range(1),
             "First pause after a failure."),
    internal("remote.log.manager.task.retry.backoff.max.ms", LONG, 30_000, Range(1),
             "Longest pause after a failure."),
    internal("remote.log.manager.task.retry.jitter", DOUBLE, 0.2, Range(0, 0.5),
             "Share of the pause that is left to chance."),
    cluster_wide("remote.log.reader.threads", INT, 10, Range(1),
                 "Threads that read from the object store for fetches."),
    fixed("remote.log.reader.max.pending.tasks", INT, 100, Range(1),
          "Fetches that may wait for such a thread."),
    cluster_wide("remote.fetch.max.wait.ms", INT, 500, Range(1),
                 "How long a fetch waits for the object store."),
    cluster_wide("remote.list.offsets.request.timeout.ms", LONG, 30_000, Range(1),
                 "How long a search for an offset by time may take in the object store."),
)  # fmt: skip

_RATE_KEYS: Final = (
    cluster_wide("remote.log.manager.copy.max.bytes.per.second", LONG, LONG_MAX, Range(1),
                 "Bytes a second that may be copied to the object store."),
    fixed("remote.log.manager.copy.quota.window.num", INT, 11, Range(1),
          "Samples that the rate of copying is measured over."),
    fixed("remote.log.manager.copy.quota.window.size.seconds", INT, 1, Range(1),
          "Length of a sample of copying."),
    cluster_wide("remote.log.manager.fetch.max.bytes.per.second", LONG, LONG_MAX, Range(1),
                 "Bytes a second that may be read from the object store."),
    fixed("remote.log.manager.fetch.quota.window.num", INT, 11, Range(1),
          "Samples that the rate of reading is measured over."),
    fixed("remote.log.manager.fetch.quota.window.size.seconds", INT, 1, Range(1),
          "Length of a sample of reading."),
)  # fmt: skip

REMOTE_STORAGE_KEYS: Final = ConfigKeys((*_PLUGIN_KEYS, *_WORK_KEYS, *_RATE_KEYS))
