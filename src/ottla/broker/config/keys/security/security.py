"""Authorization: authorizer, principals, delegation tokens, and limits of authentication."""

from typing import Final

from ottla.base.config import ConfigKeys
from ottla.base.config.check import Range
from ottla.base.config.declaration import CLASS, INT, LONG, PASSWORD, STRING
from ottla.broker.config.keys.node_key import fixed, ours, per_broker

_PRINCIPAL_BUILDER: Final = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"

SECURITY_KEYS: Final = ConfigKeys((
    fixed("authorizer.class.name", STRING, "", None,
          "What decides who may do what: Kafka's StandardAuthorizer, or a Python class; empty: everybody "
          "may do everything."),
    ours("audit.log.path", STRING, "", None,
         "File for what the authorizer decides, as JSON lines; log: into the node's log; empty: nowhere."),
    ours("audit.log.topic", STRING, "", None,
         "Topic for the same, a record for each line; empty: none."),
    per_broker("principal.builder.class", CLASS, _PRINCIPAL_BUILDER, None,
               "What makes a principal of an authenticated connection."),
    fixed("connections.max.reauth.ms", LONG, 0, None,
          "How long an authenticated connection lasts before it must authenticate again; 0: for ever."),
    fixed("sasl.server.max.receive.size", INT, 524_288, None,
          "Largest message that is taken from a client before it is authenticated."),
    fixed("security.providers", STRING, None, None,
          "Classes that make security providers for the JVM."),
    fixed("delegation.token.secret.key", PASSWORD, None, None,
          "The secret that delegation tokens are made with, the same on all nodes; absent: there are none."),
    fixed("delegation.token.max.lifetime.ms", LONG, 604_800_000, Range(1),
          "How long a delegation token can be renewed."),
    fixed("delegation.token.expiry.time.ms", LONG, 86_400_000, Range(1),
          "How long a delegation token is good for unless it is renewed."),
    fixed("delegation.token.expiry.check.interval.ms", LONG, 3_600_000, Range(1),
          "Time between two looks for tokens that are out of date."),
))  # fmt: skip
