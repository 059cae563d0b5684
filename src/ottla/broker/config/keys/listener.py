"""The settings of a node's listeners: addresses, advertised addresses, and the use of each."""

from typing import Final

from ottla.base.config import REQUIRED, ConfigKeys
from ottla.base.config.check import OneOf
from ottla.base.config.declaration import BOOLEAN, LIST, STRING, Items
from ottla.broker.config.keys.node_key import fixed, ours, per_broker

SECURITY_PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

LISTENER_KEYS: Final = ConfigKeys((
    per_broker("listeners", LIST, ("PLAINTEXT://:9092",), Items(1),
               "Addresses to listen on, `NAME://host:port` each; without a host on all interfaces."),
    fixed("advertised.listeners", LIST, None, Items(1),
          "Addresses that clients and other nodes are told to connect to, by listener name; absent: `listeners`."),
    per_broker("listener.security.protocol.map", STRING,
               "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", None,
               "The security protocol of each listener: `NAME:PROTOCOL`, separated by commas."),
    fixed("controller.listener.names", LIST, REQUIRED, Items(1),
          "Names of the listeners that controllers are reached on; on a broker the first is used to reach them."),
    fixed("inter.broker.listener.name", STRING, None, None,
          "The listener on which brokers reach each other; absent: the one named like their security protocol."),
    fixed("security.inter.broker.protocol", STRING, "PLAINTEXT", OneOf(*SECURITY_PROTOCOLS),
          "The security protocol between brokers, when `inter.broker.listener.name` is absent."),
    fixed("early.start.listeners", LIST, None, Items(),
          "Listeners that may open before the authorizer is ready; absent: those of the controller."),
    ours("advertised.listeners.follow.dialled", BOOLEAN, False, None,
         "Without `advertised.listeners`, tell a client to connect to the very address it has dialled: "
         "one node then serves the same machine, containers and the network unchanged."),
    ours("http.listen", STRING, None, None,
         "`host:port` on which `/metrics`, `/healthz` and `/readyz` are served; absent: nowhere."),
))  # fmt: skip
