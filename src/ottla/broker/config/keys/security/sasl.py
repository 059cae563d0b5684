"""SASL: mechanisms, Kerberos, and how the node itself logs in; `oauth` has the keys of OAUTHBEARER."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.declaration import CLASS, DOUBLE, INT, LIST, LONG, PASSWORD, SHORT, STRING, Items
from ottla.broker.config.keys.node_key import fixed, ours, per_broker
from ottla.broker.config.keys.security.oauth import VALIDATION_NAMES

_MECHANISM_KEYS: Final = (
    per_broker("sasl.enabled.mechanisms", LIST, ("GSSAPI",), Items(), "The mechanisms that clients may use."),
    per_broker("sasl.mechanism.inter.broker.protocol", STRING, "GSSAPI", None, "The mechanism between brokers."),
    fixed("sasl.mechanism.controller.protocol", STRING, "GSSAPI", None, "The mechanism towards controllers."),
    per_broker("sasl.jaas.config", PASSWORD, None, None,
               "Login module and options of a mechanism, with the prefix `listener.name.<listener>.<mechanism>.`."),
    fixed("sasl.server.callback.handler.class", CLASS, None, None,
          "A class that checks what clients present, with the prefix of listener and mechanism."),
    fixed("sasl.client.callback.handler.class", CLASS, None, None,
          "A class that provides what the node presents to others."),
    ours("sasl.users.file", STRING, None, None,
         "File with a user in each line, `name: password`, for PLAIN and SCRAM: shorter than `sasl.jaas.config`."),
)  # fmt: skip

_KERBEROS_KEYS: Final = (
    per_broker("sasl.kerberos.service.name", STRING, None, None, "The Kerberos principal that brokers run as."),
    per_broker("sasl.kerberos.kinit.cmd", STRING, "/usr/bin/kinit", None, "The program that gets tickets."),
    per_broker("sasl.kerberos.ticket.renew.window.factor", DOUBLE, 0.8, None,
               "Share of a ticket's life after which it is renewed."),
    per_broker("sasl.kerberos.ticket.renew.jitter", DOUBLE, 0.05, None,
               "Share of that time that is left to chance."),
    per_broker("sasl.kerberos.min.time.before.relogin", LONG, 60_000, None,
               "Shortest time between two renewals in ms."),
    per_broker("sasl.kerberos.principal.to.local.rules", LIST, ("DEFAULT",), Items(),
               "Rules that make user names of Kerberos principals."),
)  # fmt: skip

_LOGIN_KEYS: Final = (
    fixed("sasl.login.class", CLASS, None, None, "A class that logs the node in."),
    fixed("sasl.login.callback.handler.class", CLASS, None, None,
          "A class that provides what the node logs in with."),
    per_broker("sasl.login.refresh.window.factor", DOUBLE, 0.8, None,
               "Share of a token's life after which the node gets a new one."),
    per_broker("sasl.login.refresh.window.jitter", DOUBLE, 0.05, None,
               "Share of that time that is left to chance."),
    per_broker("sasl.login.refresh.min.period.seconds", SHORT, 60, None,
               "Shortest time between two tokens."),
    per_broker("sasl.login.refresh.buffer.seconds", SHORT, 300, None,
               "Time before a token ends at which the node has a new one at the latest."),
    fixed("sasl.login.connect.timeout.ms", INT, None, None,
          "How long connecting to the provider of tokens may take."),
    fixed("sasl.login.read.timeout.ms", INT, None, None,
          "How long the provider of tokens may take to answer."),
    fixed("sasl.login.retry.backoff.ms", LONG, 100, None,
          "First pause after a failed attempt to get a token."),
    fixed("sasl.login.retry.backoff.max.ms", LONG, 10_000, None,
          "Longest pause after a failed attempt to get a token."),
)  # fmt: skip

SASL_KEYS: Final = ConfigKeys((*_MECHANISM_KEYS, *_KERBEROS_KEYS, *_LOGIN_KEYS))

MECHANISM_SUFFIXES: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.oauthbearer.client.credentials.client.secret",
    "connections.max.reauth.ms",
    *VALIDATION_NAMES,
)
"""Keys that are also given per mechanism: `listener.name.<listener>.<mechanism>.<key>`."""
