"""Settings of nodes, topics and groups that files written for Kafka may have and that nothing in this release acts on.

A node names those that it was given in one line when it starts. A setting that takes effect leaves this list.
"""

from typing import Final

from ottla.broker.config.keys.group_resource import GROUP_RESOURCE_KEYS
from ottla.broker.config.keys.remote_storage import REMOTE_STORAGE_KEYS
from ottla.broker.config.keys.security.oauth import OAUTH_KEYS, VALIDATION_NAMES
from ottla.broker.config.keys.security.sasl import SASL_KEYS
from ottla.broker.config.keys.security.tls import TLS_KEYS
from ottla.broker.config.keys.share_group import SHARE_GROUP_KEYS
from ottla.broker.config.keys.streams_group import STREAMS_GROUP_KEYS

_THREADS: Final = {
    # One thread runs the event loop; what others do is bounded by what there is to do.
    "num.network.threads",
    "background.threads",
    "queued.max.requests",
    "num.replica.alter.log.dirs.threads",
}
_REQUESTS_THAT_WAIT: Final = {
    # A finished request is not kept until a sweep.
    "fetch.purgatory.purge.interval.requests",
    "producer.purgatory.purge.interval.requests",
    "delete.records.purgatory.purge.interval.requests",
}
_CONNECTIONS: Final = {
    "socket.connection.setup.timeout.max.ms",
    "replica.socket.receive.buffer.bytes",
    "early.start.listeners",
}
_PLUGINS: Final = {
    "security.providers",
}
_METRICS: Final = {
    # Metrics are read, not pushed: see http.listen.
    "metrics.num.samples",
    "metrics.sample.window.ms",
    "metric.reporters",
    "metrics.recording.level",
    "kafka.metrics.reporters",
    "kafka.metrics.polling.interval.secs",
}
_COORDINATORS: Final = {
    # Coordinators run on the event loop, and write at the end of each of its rounds.
    "group.coordinator.threads",
    "group.coordinator.background.threads",
    "group.coordinator.append.linger.ms",
    "group.coordinator.cached.buffer.max.bytes",
    # Each transaction has a timer.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms",
}
_OTHERS: Final = {
    "follower.fetch.last.tiered.offset.enable",
    "unstable.api.versions.enable",
    "unstable.feature.versions.enable",
    "producer.id.expiration.check.interval.ms",
    "controller.performance.sample.period.ms",
    "controller.performance.always.log.threshold.ms",
    "internal.metadata.log.segment.bytes",
    "internal.metadata.max.batch.size.in.bytes",
    "internal.metadata.delete.delay.millis",
}
_TIERED: Final = {
    # A release without tiered storage has nothing to keep locally for a shorter time.
    "remote.storage.enable",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "local.retention.bytes",
    "local.retention.ms",
    "log.local.retention.bytes",
    "log.local.retention.ms",
}
_GROUPS: Final = {name for name in GROUP_RESOURCE_KEYS if name.startswith(("share.", "streams."))}
_INTERNAL_TOPICS: Final = {
    # What internal topics are made with counts.
    "share.coordinator.state.topic.num.partitions",
    "share.coordinator.state.topic.replication.factor",
    "share.coordinator.state.topic.min.isr",
    "share.coordinator.state.topic.segment.bytes",
}

_SECURITY: Final = {
    # The rest of TLS and SASL that is the JVM's, Kerberos', or for getting tokens, counts for nothing.
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.certificates",
    "ssl.client.auth",
    "ssl.principal.mapping.rules",
    "ssl.allow.dn.changes",
    "ssl.allow.san.changes",
    "ssl.enabled.protocols",
    "ssl.endpoint.identification.algorithm",
    "ssl.cipher.suites",
    "sasl.enabled.mechanisms",
    "sasl.mechanism.inter.broker.protocol",
    "sasl.mechanism.controller.protocol",
    "sasl.jaas.config",
    "sasl.server.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.login.callback.handler.class",
    "sasl.kerberos.service.name",
    "sasl.kerberos.principal.to.local.rules",
    "sasl.login.refresh.window.factor",
    "sasl.login.refresh.window.jitter",
    "sasl.login.refresh.min.period.seconds",
    "sasl.login.refresh.buffer.seconds",
    "sasl.login.read.timeout.ms",
    "sasl.login.retry.backoff.ms",
    "sasl.login.retry.backoff.max.ms",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.users.file",
    *VALIDATION_NAMES,
}
NO_EFFECT: Final = "(No effect here.)"
"""Ends the documentation of such a setting in DescribeConfigs, where tools find it."""

NOT_ACTED_ON: Final = frozenset(
    {
        *_THREADS,
        *_REQUESTS_THAT_WAIT,
        *_CONNECTIONS,
        *_PLUGINS,
        *_METRICS,
        *_COORDINATORS,
        *_OTHERS,
        *_TIERED,
        *_GROUPS,
        *SHARE_GROUP_KEYS,
        *STREAMS_GROUP_KEYS,
        *REMOTE_STORAGE_KEYS,
        *TLS_KEYS,
        *SASL_KEYS,
        *OAUTH_KEYS,
    }
    - _INTERNAL_TOPICS
    - _SECURITY
)
