"""The settings of a registry client, by Confluent's names; `ssl.*` as in Kafka's clients and as in librdkafka."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import INT, INT_MAX, LIST, LONG, PASSWORD, STRING, AnyCase, Items
from ottla.client.config.client_key import key
from ottla.client.config.tls import TLS_KEYS

_CONNECTION_KEYS: Final = (
    key("schema.registry.url", LIST, (), Items(),
        "Addresses of the registry, `http://host:8081` or `https://...`. The next one is tried when one fails."),
    key("url", LIST, (), Items(), "The same, shorter."),
    key("basic.auth.credentials.source", STRING, "URL", AnyCase(("URL", "USER_INFO")),
        "Where name and password come from: the URL, or `basic.auth.user.info`."),
    key("basic.auth.user.info", PASSWORD, None, None, "Name and password, as `name:password`."),
    key("bearer.auth.token", PASSWORD, None, None, "A token that is sent with each request."),
    key("request.timeout.ms", INT, 30_000, Range(1), "How long one answer may take, connecting included."),
    key("max.retries", INT, 3, Range(0), "How often a request is repeated after all addresses failed."),
    key("retries.wait.ms", LONG, 1000, Range(1), "The longest first pause before a repetition; doubles."),
    key("retries.max.wait.ms", LONG, 20_000, Range(1), "The longest pause."),
)  # fmt: skip

_CACHE_KEYS: Final = (
    key("cache.capacity", INT, 1000, Range(1, INT_MAX), "How many schemas are kept in memory."),
    key("latest.cache.ttl.sec", LONG, -1, Range(-1),
        "How long a subject's latest version is taken for the latest; -1 is for ever."),
)  # fmt: skip

_TLS_KEYS: Final = (
    key("ssl.ca.location", STRING, None, None, "File with trusted certificates in PEM: `ssl.truststore.location`."),
    key("ssl.certificate.location", STRING, None, None, "File with the client's own certificate in PEM."),
    key("ssl.key.location", STRING, None, None, "File with the key of that certificate, unless in the same file."),
)  # fmt: skip

REGISTRY_KEYS: Final = ConfigKeys((*_CONNECTION_KEYS, *_CACHE_KEYS, *_TLS_KEYS)) | TLS_KEYS
