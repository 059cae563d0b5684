"""SASL: which mechanism a client uses and what it logs in with; `oauth` has the keys of OAUTHBEARER."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import CLASS, DOUBLE, INT, LONG, PASSWORD, SHORT, STRING
from ottla.client.config.client_key import key, ours

_MECHANISM_KEYS: Final = (
    key("sasl.mechanism", STRING, "GSSAPI", None,
        "How the client proves who it is: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER."),
    key("sasl.jaas.config", PASSWORD, None, None,
        "User and password, or the options of OAUTHBEARER, in the form that Java's clients take."),
    ours("sasl.username", STRING, None, None, "The user, for PLAIN and SCRAM: shorter than `sasl.jaas.config`."),
    ours("sasl.password", PASSWORD, None, None, "That user's password."),
    key("sasl.client.callback.handler.class", CLASS, None, None,
        "A callable that returns user and password when they are needed."),
)  # fmt: skip

_KERBEROS_KEYS: Final = (
    key("sasl.kerberos.service.name", STRING, None, None, "The Kerberos principal that brokers run as."),
    key("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", None, "The program that gets tickets."),
    key("sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, None,
        "Share of a ticket's life after which it is renewed."),
    key("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, None, "Share of that time that is left to chance."),
    key("sasl.kerberos.min.time.before.relogin", LONG, 60_000, None, "Shortest time between two renewals in ms."),
)  # fmt: skip

_LOGIN_KEYS: Final = (
    key("sasl.login.class", CLASS, None, None, "Java's class that logs in; accepted, without effect here."),
    key("sasl.login.callback.handler.class", CLASS, None, None,
        "A callable that returns a bearer token for OAUTHBEARER, as text or as a `Token`; it may be a coroutine."),
    key("sasl.login.refresh.window.factor", DOUBLE, 0.8, Range(0.5, 1.0),
        "Share of a token's life after which a new one is got."),
    key("sasl.login.refresh.window.jitter", DOUBLE, 0.05, Range(0.0, 0.25), "Share of that time left to chance."),
    key("sasl.login.refresh.min.period.seconds", SHORT, 60, Range(0, 900), "Shortest time between two tokens."),
    key("sasl.login.refresh.buffer.seconds", SHORT, 300, Range(0, 3600),
        "Time before a token ends at which there is a new one at the latest."),
    key("sasl.login.connect.timeout.ms", INT, None, None, "How long connecting to the provider of tokens may take."),
    key("sasl.login.read.timeout.ms", INT, None, None, "How long the provider of tokens may take to answer."),
    key("sasl.login.retry.backoff.ms", LONG, 100, None, "First pause after a failed attempt to get a token."),
    key("sasl.login.retry.backoff.max.ms", LONG, 10_000, None, "Longest pause after failed attempts to get a token."),
)  # fmt: skip

SASL_KEYS: Final = ConfigKeys((*_MECHANISM_KEYS, *_KERBEROS_KEYS, *_LOGIN_KEYS))
