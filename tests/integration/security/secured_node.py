"""A node of ours with a listener for every way of being secured, on a loop in a thread of its own.

Users: `alice` with the password `secret`, by every mechanism; `broker`, who is the node itself.
"""

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from ottla.broker.authentication.node_security import NodeSecurity
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.node.node import Node
from tests.integration.client.certificate import Authority, require_openssl
from tests.integration.node.nodes import PATIENCE_S, properties
from tests.integration.security.scram import format_with_users

LISTENERS = {"TLS": "SSL", "MUTUAL": "SSL", "ASKING": "SSL", "SASL": "SASL_PLAINTEXT", "SASLTLS": "SASL_SSL"}
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
SCRAM_USERS = (
    "SCRAM-SHA-256=[name=alice,password=secret]",
    "SCRAM-SHA-512=[name=alice,password=secret]",
)
_MODULES = "org.apache.kafka.common.security"

T = TypeVar("T")


class SecuredNode:
    """One node with its certificates and users."""

    def __init__(self, directory: Path, **changes: str) -> None:
        require_openssl()
        directory.mkdir(parents=True, exist_ok=True)
        self.authority = Authority(directory, "authority")
        self.stranger = Authority(directory, "stranger")
        self.broker = self.authority.sign("localhost", "DNS:localhost", "IP:127.0.0.1")
        self.client = self.authority.sign("client")
        config = ServerConfig({**self._settings(directory / "data"), **changes})
        format_with_users(config, *SCRAM_USERS)
        self.node = Node(config)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def address(self, listener: str, host: str = "localhost") -> str:
        """Where a listener is reached."""
        return f"{host}:{self.port(listener)}"

    def port(self, listener: str) -> int:
        """The port of a listener."""
        return self.node.listener_address(listener)[1]

    def run(self, coroutine: "Coroutine[Any, Any, T]") -> T:
        """Runs something on the node's loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_S)

    def __enter__(self) -> Self:
        self._thread.start()
        self.run(self.node.start())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run(self.node.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _settings(self, data: Path) -> dict[str, str]:
        given = properties(data)
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **LISTENERS}
        endpoints = ",".join(f"{name}://localhost:0" for name in LISTENERS)
        return {
            **given,
            "listeners": f"{given['listeners']},{endpoints}",
            "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.broker.both),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.authority.certificate),
            "listener.name.mutual.ssl.client.auth": "required",
            "listener.name.mutual.ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/U",
            "listener.name.asking.ssl.client.auth": "requested",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "group.initial.rebalance.delay.ms": "0",
            **_sasl_settings("sasl"),
            **_sasl_settings("sasltls"),
        }


def _sasl_settings(listener: str) -> dict[str, str]:
    prefix = f"listener.name.{listener}"
    users = 'username="broker" password="x" user_broker="x" user_alice="secret"'
    modules = {
        "plain": f"{_MODULES}.plain.PlainLoginModule required {users};",
        "oauthbearer": f"{_MODULES}.oauthbearer.OAuthBearerLoginModule required;",
    }
    return {
        f"{prefix}.sasl.enabled.mechanisms": ",".join(MECHANISMS),
        **{f"{prefix}.{name}.sasl.jaas.config": text for name, text in modules.items()},
    }


def try_listener(given: dict[str, str]) -> None:
    """Has a node make the security of a SASL listener called A. Raises what keeps it from starting."""
    settings = {
        "process.roles": "broker",
        "node.id": "7",
        "listeners": "A://localhost:0",
        "listener.security.protocol.map": "A:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": "localhost:1",
        "inter.broker.listener.name": "A",
    }
    config = ServerConfig({**settings, **given})
    NodeSecurity(config, lambda: 0).of_listener(config, "A", "localhost")
