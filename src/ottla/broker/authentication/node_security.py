"""Everything a node knows about proving: what its listeners ask for, what it shows to others, and changes of both."""

import logging
import os
import ssl
from collections.abc import Callable
from typing import Final

from ottla.broker.authentication.credential import Credentials
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.authentication.node_login import begin_login
from ottla.broker.authentication.server_security import ServerSecurity, exposed_mechanisms
from ottla.broker.config.server_config import ServerConfig
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.net.sasl.client_login import BeginLogin
from ottla.net.security import ListenerSecurity
from ottla.net.tls.context import client_context

_log = logging.getLogger(__name__)


class NodeProof:
    """What one connection to another node is made with. The context may be replaced at any time."""

    def __init__(self, tls: ssl.SSLContext | None, login: BeginLogin | None) -> None:
        self.tls = tls
        self.login: Final = login


class NodeSecurity:
    """One node's. Everything that is asked of it may raise `ConfigError`."""

    def __init__(self, config: ServerConfig, now_ms: Callable[[], int]) -> None:
        self._config: Final = config
        self._jaas: Final = JaasEntries.of_environment(os.environ)
        self._credentials: Final = Credentials(now_ms, config.optional_string("delegation.token.secret.key"))
        self._server: Final = ServerSecurity(self._jaas, self._credentials, now_ms)
        self._proofs: Final[dict[tuple[str, str], NodeProof]] = {}

    def follow(self, image: Callable[[], MetadataImage]) -> None:
        """Users are those of the newest metadata from now on."""
        self._credentials.image = image

    def of_listener(self, config: ServerConfig, name: str, host: str) -> ListenerSecurity | None:
        """What a listener asks of its clients; None if it serves everybody."""
        settings, protocol = ListenerSettings(config, name), config.security_protocols[name]
        exposed = exposed_mechanisms(settings, protocol, host)
        if exposed:
            _log.warning(
                "The listener %s offers %s without TLS beyond this machine: whoever listens on the network learns "
                "passwords, or can guess them. Make it SASL_SSL in listener.security.protocol.map",
                name,
                " and ".join(exposed),
            )
        return self._server.make(settings, protocol)

    def to_brokers(self) -> NodeProof:
        """What this node shows to other brokers."""
        name = self._config.inter_broker_listener_name
        return self._proof(name, "sasl.mechanism.inter.broker.protocol")

    def to_controllers(self) -> NodeProof:
        """What this node shows to controllers."""
        return self._proof(self._config.controller_listener_names[0], "sasl.mechanism.controller.protocol")

    def _proof(self, name: str, mechanism_key: str) -> NodeProof:
        known = self._proofs.get((name, mechanism_key))
        if known is None:
            known = self._proofs[name, mechanism_key] = self._make_proof(name, mechanism_key)
        return known

    def _make_proof(self, name: str, mechanism_key: str) -> NodeProof:
        protocol = self._config.security_protocols.get(name, "PLAINTEXT")
        settings = ListenerSettings(self._config, name)
        login = None
        if protocol.startswith("SASL"):
            mechanism = settings.text(mechanism_key) or ""
            login = begin_login(settings, mechanism, self._jaas)
        return NodeProof(client_context(settings.tls()) if protocol.endswith("SSL") else None, login)
