"""The demands of each listener of a node on its clients, from its settings.

All of it is read when the listener is made: a node whose certificate or users can't be read does not start.
"""

import logging
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.base.config import ConfigError
from ottla.broker.authentication.bearer_setting import BearerListener, bearer_handler
from ottla.broker.authentication.credential import Credentials, Passwords, credential_of_password
from ottla.broker.authentication.jaas_entry import JaasEntries
from ottla.broker.authentication.kerberos_setting import accepts_tickets
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.authentication.own_class import OwnHandler, own_builder, own_handler
from ottla.broker.authentication.user_file import KEY as USERS_FILE
from ottla.broker.authentication.user_file import UserFile
from ottla.broker.request.refusal import refuse
from ottla.net.apart import Apart, Worker
from ottla.net.connection import ANONYMOUS
from ottla.net.sasl.jaas import JaasConfig
from ottla.net.sasl.login import LoginRules
from ottla.net.sasl.oauthbearer import oauthbearer_server
from ottla.net.sasl.plain import plain_server
from ottla.net.sasl.scram import MECHANISMS as SCRAM_MECHANISMS
from ottla.net.sasl.scram_server import scram_server
from ottla.net.sasl.server import ServerExchange
from ottla.net.security import ListenerSecurity
from ottla.net.tls.context import server_context
from ottla.net.tls.principal_rule import PrincipalRule, parse_rules
from ottla.net.tls.server import TlsServer
from ottla.protocol.errors import DecodeError, ErrorCode, InvalidRequestError, UnsupportedVersionError, error_for
from ottla.protocol.frame import decode_request, encode_response

if TYPE_CHECKING:
    # It needs a package that only listeners with signed tokens need.
    from ottla.broker.authentication.key_source import KeySource

_log = logging.getLogger(__name__)

SERVED_MECHANISMS: Final = ("PLAIN", *SCRAM_MECHANISMS, "OAUTHBEARER", "GSSAPI")
_RULES: Final = "ssl.principal.mapping.rules"
_NONCE_BYTES: Final = 18
_USER: Final = "user_"
_OPEN: Final = frozenset({"PLAIN", *SCRAM_MECHANISMS})
"""The mechanisms that expose passwords, or data to guess them from, to eavesdroppers."""
_LOOPBACK: Final = ("localhost", "127.", "::1")


class ServerSecurity:
    """Makes the security of listeners."""

    def __init__(
        self,
        jaas: JaasEntries,
        credentials: Credentials,
        now_ms: Callable[[], int],
        allowed_urls: frozenset[str] | None = None,
    ) -> None:
        self._jaas: Final = jaas
        self._allowed_urls: Final = allowed_urls
        self._credentials: Final = credentials
        self._now_ms: Final = now_ms

    def make(self, settings: ListenerSettings, protocol: str) -> ListenerSecurity | None:
        """The demands of a listener on its clients; None if it serves all clients. Raises `ConfigError`."""
        if protocol == "PLAINTEXT":
            return None
        tls = _tls(settings) if protocol.endswith("SSL") else None
        sources: list[KeySource] = []
        builder = own_builder(settings)
        handlers: dict[str, OwnHandler] = {}
        login = self._login(settings, sources, handlers) if protocol.startswith("SASL") else None
        ends = [source.close for source in sources]
        worker = Worker() if self._derives_keys(settings, protocol) else None
        if worker is not None:
            ends.append(worker.close)
        # Nothing is refused any more: whoever gets the result ends what begins here.
        for source in sources:
            source.start()
        return ListenerSecurity(
            tls=tls,
            login=login,
            ends=tuple(ends),
            failure_delay_ms=settings.integer("connection.failed.authentication.delay.ms"),
            login_bytes_max=settings.integer("sasl.server.max.receive.size"),
            now_ms=self._now_ms,
            apart=Apart() if handlers or builder is not None else worker,
            name_principal=builder,
        )

    def _login(
        self, settings: ListenerSettings, sources: "list[KeySource]", handlers: dict[str, OwnHandler]
    ) -> LoginRules:
        """Adds what has to be started to `sources`, and the operator's classes to `handlers`."""
        path = settings.text(USERS_FILE)
        users = None if path is None else UserFile(Path(path))
        begins = {}
        for name in enabled_mechanisms(settings):
            handler = own_handler(settings, name)
            if handler is None:
                begins[name] = self._mechanism(settings, name, users, sources)
            else:
                handlers[name], begins[name] = handler, _by_handler(handler, name)
        return LoginRules(begins, settings.session_ms_max, refused_frame)

    def _derives_keys(self, settings: ListenerSettings, protocol: str) -> bool:
        """Whether SCRAM has to make keys from passwords here, with thousands of iterations each."""
        if not protocol.startswith("SASL") or not set(SCRAM_MECHANISMS) & set(enabled_mechanisms(settings)):
            return False
        return self._credentials.has_token_secret or settings.text(USERS_FILE) is not None

    def _mechanism(
        self, settings: ListenerSettings, mechanism: str, users: UserFile | None, sources: "list[KeySource]"
    ) -> Callable[[], ServerExchange]:
        bearer_handler(settings, mechanism)
        entry = self._jaas.find(settings, mechanism)
        if mechanism == "PLAIN":
            return partial(plain_server, partial(_password, _users_of(entry), users))
        if mechanism == "OAUTHBEARER":
            bearer = BearerListener(settings, entry, self._allowed_urls, self._now_ms)
            sources += [] if bearer.source is None else [bearer.source]
            return partial(oauthbearer_server, bearer.read)
        if mechanism == "GSSAPI":
            return accepts_tickets(settings, entry)
        find = partial(self._credentials.find, passwords=users)
        return lambda: scram_server(mechanism, find, secrets.token_urlsafe(_NONCE_BYTES))


def _by_handler(handler: OwnHandler, mechanism: str) -> Callable[[], ServerExchange]:
    """A factory of exchanges that the operator's class decides; it runs on another thread."""
    if mechanism == "OAUTHBEARER":
        return partial(oauthbearer_server, handler.read_token)
    if mechanism == "PLAIN":
        check = handler.check_password if handler.checks_passwords else None
        return partial(plain_server, handler.password, check)
    users = partial(credential_of_password, mechanism, handler.password)
    return lambda: scram_server(mechanism, users, secrets.token_urlsafe(_NONCE_BYTES))


def enabled_mechanisms(settings: ListenerSettings) -> tuple[str, ...]:
    """The mechanisms of a SASL listener. Raises `ConfigError` for those that are not served."""
    key = "sasl.enabled.mechanisms"
    wanted = settings.strings(key)
    unknown = [name for name in wanted if name not in SERVED_MECHANISMS]
    if unknown or not wanted:
        raise ConfigError(
            f"{settings.prefix}{key}", ",".join(wanted), f"Expected some of {', '.join(SERVED_MECHANISMS)}"
        )
    return wanted


def mapping_rules(settings: ListenerSettings) -> tuple[PrincipalRule, ...]:
    """The mapping of certificates to users. Raises `ConfigError`."""
    text = settings.text(_RULES) or "DEFAULT"
    try:
        return parse_rules(text)
    except ValueError as error:
        raise ConfigError(f"{settings.prefix}{_RULES}", text, str(error)) from None


def exposed_mechanisms(settings: ListenerSettings, protocol: str, host: str) -> list[str]:
    """The mechanisms whose passwords others on the network can read or guess: without TLS, beyond this machine."""
    if protocol != "SASL_PLAINTEXT" or host.startswith(_LOOPBACK):
        return []
    return [name for name in settings.strings("sasl.enabled.mechanisms") if name in _OPEN]


def refused_frame(frame: memoryview, code: ErrorCode) -> bytes | None:
    """The answer to a request, in the shape of its call, that it was refused; None if it gets none."""
    try:
        header, request = decode_request(frame)
    except (DecodeError, InvalidRequestError, UnsupportedVersionError):
        return None
    version = header.request_api_version
    response = refuse(request, version, error_for(code))
    return None if response is None else encode_response(response, version, correlation_id=header.correlation_id)


def _tls(settings: ListenerSettings) -> TlsServer:
    return TlsServer(server_context(settings.tls()), mapping_rules(settings), ANONYMOUS)


def _users_of(entry: JaasConfig) -> Mapping[str, str]:
    options = entry.options
    return {name.removeprefix(_USER): options[name] for name in options if name.startswith(_USER)}


def _password(users: Mapping[str, str], more: Passwords | None, name: str) -> str | None:
    known = users.get(name)
    return known if known is not None or more is None else more.password(name)
