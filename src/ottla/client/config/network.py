"""Settings that every client has: whom to connect to, how patiently, and what to count."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import OneOf, Range
from ottla.base.config.declaration import INT, INT_MAX, LIST, LONG, MINUTE_MS, STRING, AnyCase, Items
from ottla.client.config.client_key import Nothing, key

_SOCKET_KEYS: Final = (
    key("client.id", STRING, "", None,
        "A name that brokers show in logs, metrics and quotas; empty: one is made up."),
    key("client.dns.lookup", STRING, "use_all_dns_ips",
        OneOf("use_all_dns_ips", "resolve_canonical_bootstrap_servers_only"),
        "`use_all_dns_ips` tries each address of a name in turn; "
        "`resolve_canonical_bootstrap_servers_only` replaces bootstrap names by those of their addresses."),
    key("send.buffer.bytes", INT, 131_072, Range(-1),
        "Size of the socket's send buffer; the system's own growing buffer at -1, and unless this is given."),
    key("socket.connection.setup.timeout.ms", LONG, 10_000, None,
        "How long a first attempt to connect may take, TLS and SASL included; doubles with each failure in a row."),
    key("socket.connection.setup.timeout.max.ms", LONG, 30_000, None,
        "How long an attempt to connect may take at most, after many failures."),
    key("reconnect.backoff.ms", LONG, 50, Range(0),
        "First pause before a node is connected to again; doubles with each failure in a row."),
    key("reconnect.backoff.max.ms", LONG, 1_000, Range(0), "Longest pause before a node is connected to again."),
    key("request.timeout.ms", INT, 30_000, Range(0),
        "How long an answer may take; then the connection is given up and the request tried again, if it may be."),
)  # fmt: skip

_RETRY_KEYS: Final = (
    key("retry.backoff.ms", LONG, 100, Range(0),
        "First pause before a failed request is repeated; doubles with each failure, a fifth of it left to chance."),
    key("retry.backoff.max.ms", LONG, 1_000, Range(0), "Longest pause before a failed request is repeated."),
)  # fmt: skip

_METADATA_KEYS: Final = (
    key("metadata.max.age.ms", LONG, 5 * MINUTE_MS, Range(0),
        "Age at which what is known of the cluster is asked for again, even if nothing seems to have changed."),
    key("metadata.recovery.strategy", STRING, "rebootstrap", AnyCase(("REBOOTSTRAP", "NONE")),
        "What to do when no known broker can be reached: `rebootstrap` asks the bootstrap addresses (KIP-899)."),
    key("metadata.recovery.rebootstrap.trigger.ms", LONG, 5 * MINUTE_MS, Range(0),
        "How long all brokers may be silent before `rebootstrap` acts, although connections can be made (KIP-1102)."),
)  # fmt: skip

_METRIC_KEYS: Final = (
    key("metric.reporters", LIST, (), Items(), "Objects or classes that hear of each metric that comes and goes."),
    key("metrics.num.samples", INT, 2, Range(1), "How many windows rates and averages look back over."),
    key("metrics.recording.level", STRING, "INFO", OneOf("INFO", "DEBUG", "TRACE"),
        "The finest metrics that are recorded."),
    key("metrics.sample.window.ms", LONG, 30_000, Range(0), "Length of one of those windows."),
)  # fmt: skip

_PROVIDER_KEYS: Final = (
    key("config.providers", LIST, (), Nothing("a program reads such values itself, for example from os.environ"),
        "Java's way to have `${name:path:key}` looked up elsewhere; refused here, since values come from a program."),
)  # fmt: skip

NETWORK_KEYS: Final = ConfigKeys((*_SOCKET_KEYS, *_RETRY_KEYS, *_METADATA_KEYS, *_METRIC_KEYS, *_PROVIDER_KEYS))

RETRIES: Final = key("retries", INT, INT_MAX, Range(0, INT_MAX),
                     "How often a failed request is repeated, within the time-out that ends it anyway.")  # fmt: skip
