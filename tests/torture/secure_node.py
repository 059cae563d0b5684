"""Nodes that prove to each other who they are: brokers by PLAIN over TLS, controllers by certificates, with an
authorizer on both. Clients, who are of many kinds, come over plain text and may do what no rule is about.
"""

from pathlib import Path

from ottla.broker.config.older import STANDARD_AUTHORIZER
from tests.integration.client.certificate import Authority, Certificate
from tests.kafka.cluster import Node
from tests.kafka.port import free_port

_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_NAME = "localhost"


class SecureNode(Node):
    """One of them; the first of a cluster makes the certificates."""

    def __init__(self, directory: Path, node_id: int, *, is_peer: bool = False) -> None:
        self.inside_port = free_port()
        self._authority, self._certificate = _certificates(directory.parent / "certificates")
        super().__init__(directory, node_id, is_peer=is_peer)

    def _properties(self, settings: dict[str, str]) -> dict[str, str]:
        endpoints = (
            f"PLAINTEXT://127.0.0.1:{self.port},INSIDE://127.0.0.1:{self.inside_port},"
            f"CONTROLLER://127.0.0.1:{self.controller_port}"
        )
        users = 'username="broker" password="between us" user_broker="between us"'
        return super()._properties(settings) | {
            "listeners": endpoints,
            "advertised.listeners": endpoints,
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INSIDE:SASL_SSL,CONTROLLER:SSL",
            "inter.broker.listener.name": "INSIDE",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.inside.sasl.enabled.mechanisms": "PLAIN",
            "listener.name.inside.plain.sasl.jaas.config": f"{_MODULE} {users};",
            "listener.name.controller.ssl.client.auth": "required",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self._certificate),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self._authority),
            "authorizer.class.name": STANDARD_AUTHORIZER,
            "super.users": f"User:broker;User:CN={_NAME}",
            "allow.everyone.if.no.acl.found": "true",
        }


def _certificates(directory: Path) -> tuple[Path, Path]:
    """An authority's and a node's, which all nodes of a cluster have."""
    authority, own = directory / "authority.pem", directory / f"{_NAME}.pem"
    if not own.exists():
        directory.mkdir(parents=True)
        made: Certificate = Authority(directory, "authority").sign(_NAME, f"DNS:{_NAME}", "IP:127.0.0.1")
        assert made.both == own
    return authority, own
