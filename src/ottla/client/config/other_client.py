"""Settings as librdkafka, confluent-kafka, kafka-python and aiokafka name them, and what to write here instead.

Nothing here is accepted: a setting that means nearly the same is still another one (a unit, a default), so its user
chooses. `RENAMED` leads from a name to ours; `INSTEAD` says what to do where no setting corresponds.
"""

from collections.abc import Callable
from typing import Final

RENAMED: Final = {
    "metadata.broker.list": "bootstrap.servers",
    "message.max.bytes": "max.request.size",
    "receive.message.max.bytes": "fetch.max.bytes",
    "max.in.flight": "max.in.flight.requests.per.connection",
    "topic.metadata.refresh.interval.ms": "metadata.max.age.ms",
    "topic.metadata.refresh.fast.interval.ms": "retry.backoff.ms",
    "socket.timeout.ms": "request.timeout.ms",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "fetch.message.max.bytes": "max.partition.fetch.bytes",
    "fetch.error.backoff.ms": "retry.backoff.ms",
    "queue.buffering.max.ms": "linger.ms",
    "message.send.max.retries": "retries",
    "compression.codec": "compression.type",
    "compression.level": "compression.zstd.level",
    "request.required.acks": "acks",
    "message.timeout.ms": "delivery.timeout.ms",
    "partitioner": "partitioner.class",
    "auto.commit.enable": "enable.auto.commit",
    "consume.callback.max.messages": "max.poll.records",
    "max.batch.size": "batch.size",
    "rebalance.timeout.ms": "max.poll.interval.ms",
    "sasl.mechanisms": "sasl.mechanism",
    "sasl.plain.username": "sasl.username",
    "sasl.plain.password": "sasl.password",
    "ssl.ca.location": "ssl.truststore.location",
    "ssl.cafile": "ssl.truststore.location",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
    "ssl.password": "ssl.key.password",
    "ssl.ciphers": "ssl.cipher.suites",
}
"""Names that have a counterpart."""

_ONE_FILE: Final = "put key and certificates into one PEM file and name it in ssl.keystore.location"
_HOST_NAME: Final = "set ssl.endpoint.identification.algorithm to an empty text to leave the host name unchecked"
_MEMORY: Final = "buffer.memory limits what waits to be sent, in bytes"
_AHEAD: Final = "fetch.max.bytes and max.partition.fetch.bytes limit what is fetched ahead"
_ALWAYS_ASKED: Final = "leave it out, the versions that a broker speaks are always asked for"
_ALWAYS_ON: Final = "leave it out, it is always so"
_NO_COUNTERPART: Final = "leave it out, nothing here corresponds to it"
_LOGGING: Final = 'use logging.getLogger("ottla.client").setLevel("DEBUG")'
_STATISTICS: Final = "call metrics() when you want the figures"
_CALLBACK: Final = "give send() an on_delivery function, or ask the future that it returns"
_ERRORS: Final = "calls raise their errors; what the client recovers from by itself goes to the logger ottla.client"
_STORED: Final = "leave it out; with enable.auto.commit=false commit(offsets) commits what you say"

INSTEAD: Final = {
    "api.version": _ALWAYS_ASKED,
    "api.version.auto.timeout.ms": _ALWAYS_ASKED,
    "api.version.fallback.ms": _ALWAYS_ASKED,
    "api.version.request": _ALWAYS_ASKED,
    "api.version.request.timeout.ms": _ALWAYS_ASKED,
    "broker.version.fallback": _ALWAYS_ASKED,
    "batch.num.messages": "batch.size limits a batch, in bytes",
    "broker.address.family": "write the address itself, such as 127.0.0.1 or [::1], into bootstrap.servers",
    "broker.address.ttl": _NO_COUNTERPART,
    "consumer.timeout.ms": "poll(seconds) returns an empty list when nothing comes",
    "debug": _LOGGING,
    "log.level": _LOGGING,
    "log.cb": _LOGGING,
    "logger": _LOGGING,
    "delivery.report.only.error": _CALLBACK,
    "dr.cb": _CALLBACK,
    "dr.msg.cb": _CALLBACK,
    "on.delivery": _CALLBACK,
    "enable.auto.offset.store": _STORED,
    "offset.store.method": _STORED,
    "enable.gapless.guarantee": "leave it out, transactions commit all records or none",
    "enable.partition.eof": "compare position(partition) with end_offsets([partition])",
    "enable.ssl.certificate.verification": _HOST_NAME,
    "ssl.check.hostname": _HOST_NAME,
    "error.cb": _ERRORS,
    "throttle.cb": _ERRORS,
    "fetch.queue.backoff.ms": _AHEAD,
    "queued.max.messages.kbytes": _AHEAD,
    "queued.min.messages": _AHEAD,
    "group.protocol.type": _NO_COUNTERPART,
    "loop": "leave it out, an asyncio client belongs to the loop that starts it",
    "message.copy.max.bytes": _NO_COUNTERPART,
    "queue.buffering.max.kbytes": _MEMORY,
    "queue.buffering.max.messages": _MEMORY,
    "queue.buffering.backpressure.threshold": _NO_COUNTERPART,
    "selector": _NO_COUNTERPART,
    "socket.keepalive.enable": _ALWAYS_ON,
    "socket.nagle.disable": _ALWAYS_ON,
    "socket.max.fails": _NO_COUNTERPART,
    "socket.options": "send.buffer.bytes and receive.buffer.bytes are what can be set",
    "ssl.certfile": _ONE_FILE,
    "ssl.certificate.location": _ONE_FILE,
    "ssl.key.location": _ONE_FILE,
    "ssl.keyfile": _ONE_FILE,
    "ssl.context": "name the files in ssl.truststore.location and ssl.keystore.location",
    "ssl.crl.location": _NO_COUNTERPART,
    "ssl.crlfile": _NO_COUNTERPART,
    "statistics.interval.ms": _STATISTICS,
    "stats.cb": _STATISTICS,
    "sticky.partitioning.linger.ms": "leave it out, a batch that is sent is what ends a partition's turn",
    "topic.metadata.refresh.sparse": _ALWAYS_ON,
}
"""Names without a counterpart."""


def advice(name: str, has: Callable[[str], bool], spell: Callable[[str], str]) -> str | None:
    """Advice for another client's setting; None for a name that no other client has.

    `has` knows the settings of the client that was given the name, `spell` writes a setting as its user does.

    >>> advice("queue.buffering.max.ms", lambda name: True, str)
    'write linger.ms'
    """
    renamed = RENAMED.get(name)
    if renamed is not None and has(renamed):
        return f"write {spell(renamed)}"
    if renamed is not None:
        return None
    # `error_cb` and `api_version` have their underscores also in a mapping.
    return INSTEAD.get(name.replace("_", "."))
