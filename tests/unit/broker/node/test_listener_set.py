"""What the settings say of listeners: limits, and what others are told."""

from typing import Any

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.listener_set import ListenerSet, listener_limits, server_limits
from ottla.metadata.image.cluster import Endpoint
from ottla.net.limits import UNLIMITED


def config(**changes: str) -> ServerConfig:
    given = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "listeners": "PLAINTEXT://:0,INSIDE://127.0.0.1:0,CONTROLLER://127.0.0.1:9093",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": "1@127.0.0.1:9093",
    }
    return ServerConfig(given | {name.replace("_", "."): value for name, value in changes.items()})


def test_limits_of_a_listener_and_of_all() -> None:
    settings = config(
        **{
            "listener.name.inside.max.connections": "7",
            "max.connections": "100",
            "max.connections.per.ip": "10",
            "max.connections.per.ip.overrides": "127.0.0.1:50,::1:60",
            "inter.broker.listener.name": "INSIDE",
        }
    )
    inside, outside = listener_limits(settings, "INSIDE"), listener_limits(settings, "PLAINTEXT")
    assert (inside.connections_max, outside.connections_max) == (7, UNLIMITED)
    assert (inside.is_inter_broker, outside.is_inter_broker) == (True, False)
    limits = server_limits(settings)
    assert (limits.connections_max, limits.connections_per_ip_max) == (100, 10)
    assert limits.connections_per_ip_overrides == {"127.0.0.1": 50, "::1": 60}


def test_what_others_are_told_has_a_host_and_a_port() -> None:
    settings = config(**{"advertised.listeners": "PLAINTEXT://:0,INSIDE://inside.example:19092"})
    nothing: Any = None
    listeners = ListenerSet((), nothing, nothing, settings)
    told = listeners.advertised(settings.advertised_broker_listeners, settings.security_protocols, "me.example")
    assert told == [Endpoint("PLAINTEXT", "me.example", 0, 0), Endpoint("INSIDE", "inside.example", 19092, 0)]
