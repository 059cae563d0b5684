"""Everything a node knows about proving: what its listeners ask for, what it shows to others, and changes of both."""

import datetime
import logging
import os
import ssl
from collections.abc import Callable
from typing import Final, NamedTuple

from ottla.base.config import ConfigError
from ottla.broker.authentication.credential import Credentials
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.authentication.node_login import begin_login
from ottla.broker.authentication.rotation import TlsState, check_successor, own_certificate
from ottla.broker.authentication.server_security import ServerSecurity, exposed_mechanisms
from ottla.broker.config.server_config import ServerConfig
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.net.sasl.client_login import BeginLogin
from ottla.net.sasl.jaas_file import allowed_urls
from ottla.net.security import ListenerSecurity
from ottla.net.tls.certificate import Certificate
from ottla.net.tls.context import client_context, server_context
from ottla.net.tls.server import TlsServer

_log = logging.getLogger(__name__)


class NodeProof:
    """The security of connections to other nodes. The context may be replaced at any time."""

    def __init__(self, context: ssl.SSLContext | None, login: BeginLogin | None) -> None:
        self.context = context
        """None for plain text."""
        self.login: Final = login


class _Rotating(NamedTuple):
    """A listener whose certificate may change."""

    server: TlsServer
    state: TlsState
    certificate: Certificate


class NodeSecurity:
    """One node's. Everything that is asked of it may raise `ConfigError`."""

    def __init__(self, config: ServerConfig, now_ms: Callable[[], int]) -> None:
        self._config: Final = config
        self._now_ms: Final = now_ms
        self._jaas: Final = JaasEntries.of_environment(os.environ)
        self._credentials: Final = Credentials(now_ms, config.optional_string("delegation.token.secret.key"))
        self._server: Final = ServerSecurity(self._jaas, self._credentials, now_ms, allowed_urls(os.environ))
        self._proofs: Final[dict[tuple[str, str], NodeProof]] = {}
        self._rotating: Final[dict[str, _Rotating]] = {}
        self._served: Final[set[str]] = set()
        """The names of the listeners that there are."""

    def follow(self, image: Callable[[], MetadataImage]) -> None:
        """Users are those of the newest metadata from now on."""
        self._credentials.image = image

    def of_listener(self, config: ServerConfig, name: str, host: str) -> ListenerSecurity | None:
        """The demands of a listener on its clients; None if it serves all clients."""
        settings, protocol = ListenerSettings(config, name), config.security_protocols[name]
        exposed = exposed_mechanisms(settings, protocol, host)
        if exposed:
            _log.warning(
                "The listener %s offers %s without TLS beyond this machine: any eavesdropper learns "
                "passwords, or can guess them. Make it SASL_SSL in listener.security.protocol.map",
                name,
                " and ".join(exposed),
            )
        made = self._server.make(settings, protocol)
        self._served.add(name)
        if made is not None and made.tls is not None:
            tls = settings.tls()
            certificate = own_certificate(tls)
            if settings.loses_client_auth:
                _log.warning(
                    "ssl.client.auth is not for the listener %s, whose clients log in: if it shall ask for their "
                    "certificates, too, set %sssl.client.auth",
                    name,
                    settings.prefix,
                )
            if not certificate.other_names:
                _log.warning(
                    "The certificate of the listener %s has no subject alternative name, so clients that check names "
                    "refuse it: give it one for each name of this node, or have them set an empty "
                    "ssl.endpoint.identification.algorithm",
                    name,
                )
            self._warn_of_dates(name, certificate)
            self._rotating[name] = _Rotating(made.tls, TlsState.of(tls), certificate)
        return made

    def forget_listener(self, name: str, security: ListenerSecurity | None) -> None:
        """A listener is closed."""
        self._served.discard(name)
        if security is not None:
            security.close()
            self._rotating.pop(name, None)

    def check_change(self, config: ServerConfig) -> None:
        """Raises a `ConfigError` if a listener could not be opened, or would have a certificate that may not follow."""
        for name in {address.name for address in config.listeners} - self._served:
            made = self._server.make(ListenerSettings(config, name), config.security_protocols[name])
            if made is not None:
                made.close()
        for name, rotating in self._rotating.items():
            if name in config.security_protocols:
                _successor(ListenerSettings(config, name), rotating)

    def rotate(self, config: ServerConfig) -> None:
        """Takes what is new in stores of keys; open connections live on with what they have."""
        for name, rotating in list(self._rotating.items()):
            if name not in config.security_protocols:
                continue
            try:
                found = _successor(ListenerSettings(config, name), rotating)
                if found is None:
                    continue
                rotating.server.context = server_context(found.state.settings)
                for (listener, _), proof in self._proofs.items():
                    if listener == name:
                        proof.context = client_context(found.state.settings)
            except ConfigError as error:
                _log.error("The listener %s keeps its certificate: %s", name, error)
                continue
            self._rotating[name] = found
            self._warn_of_dates(name, found.certificate)
            _log.info("The listener %s has a new certificate: %s", name, found.certificate.subject or "of nobody")

    def _warn_of_dates(self, name: str, certificate: Certificate) -> None:
        """Clients refuse a certificate that is not good now, and tell their users alone."""
        now = datetime.datetime.fromtimestamp(self._now_ms() / 1000, datetime.UTC)
        if now > certificate.end:
            said = "expired at %s, so clients refuse it: set ssl.keystore.location to a new one, which needs no restart"
        elif now < certificate.begin:
            said = "is not good before %s, so clients refuse it until then: is the clock of this machine right?"
        else:
            return
        date = certificate.end if now > certificate.end else certificate.begin
        _log.warning("The certificate of the listener %s " + said, name, date.isoformat())

    def to_brokers(self) -> NodeProof:
        """This node's credentials for other brokers."""
        name = self._config.inter_broker_listener_name
        return self._proof(name, "sasl.mechanism.inter.broker.protocol")

    def to_controllers(self) -> NodeProof:
        """This node's credentials for controllers."""
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


def _successor(settings: ListenerSettings, rotating: _Rotating) -> _Rotating | None:
    """A listener's new certificate, if it has changed; raises `ConfigError` if it may not be used."""
    tls = settings.tls()
    state = TlsState.of(tls)
    if state == rotating.state:
        return None
    server_context(tls)
    certificate = own_certificate(tls)
    check_successor(settings, rotating.certificate, certificate)
    return _Rotating(rotating.server, state, certificate)
