"""Operators' Python classes that say who clients are: `sasl.server.callback.handler.class`, `principal.builder.class`.

Both are written `module:Class`, and may have the prefix of a listener; a handler also that of a mechanism. They are
made with their listener. `configure(settings)`, if there is one, gets the node's settings first. They are called on
threads of their own, several at a time; one that raises or takes ten seconds refuses its client alone.
"""

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.broker.config.operator_class import OperatorClass
from ottla.net.sasl.oauthbearer import TokenRefusedError
from ottla.net.sasl.server import Identity, SaslRefusedError, invalid_credentials, user
from ottla.net.security import NamePrincipal, Recognised

_log = logging.getLogger(__name__)

HANDLER: Final = "sasl.server.callback.handler.class"
BUILDER: Final = "principal.builder.class"
_DEFAULT_BUILDER: Final = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
_METHODS: Final = {
    "PLAIN": ("check_password", "password"),
    "SCRAM-SHA-256": ("password",),
    "SCRAM-SHA-512": ("password",),
    "OAUTHBEARER": ("read_token",),
}
"""The methods of a handler, of which it has one. None: the mechanism takes no handler."""
_ADVICE: Final = "write module:Class. Classes for Apache Kafka are Java and don't run here"

T = TypeVar("T")


class OwnHandler:
    """An operator's handler for one mechanism of one listener.

    `check_password(user, password)` says whether it is right; `password(user)` is the password, None if there is no
    such user; `read_token(token)` is the user that a token names, or the user and the token's end in seconds since
    1970, and raises for any other.
    """

    def __init__(self, handler: Any, mechanism: str) -> None:
        self._handler: Final = handler
        self._mechanism: Final = mechanism

    @property
    def checks_passwords(self) -> bool:
        """Whether it compares by itself, and tells no password."""
        return hasattr(self._handler, "check_password")

    def check_password(self, name: str, password: str) -> bool:
        """Whether a password is right. Raises `SaslRefusedError` if the class fails."""
        return self._asked(lambda: self._handler.check_password(name, password)) is True

    def password(self, name: str) -> str | None:
        """A user's password. Raises `SaslRefusedError` if the class fails."""
        found = self._asked(lambda: self._handler.password(name))
        return None if found is None else str(found)

    def read_token(self, token: str) -> Identity:
        """Whom a token names. Raises `TokenRefusedError`, also if the class fails."""
        try:
            found = self._handler.read_token(token)
            name, ends_at = found if isinstance(found, tuple) else (found, None)
            if not isinstance(name, str) or not name:
                raise TypeError(f"read_token returned {name!r}, where a user's name was expected")
            ends_at_ms = None if ends_at is None else round(float(ends_at) * 1000)
        except Exception as error:  # An operator's code: what it can't read is refused, and the listener goes on.
            _log.info("A bearer token is refused: %s: %s", type(error).__name__, error)
            raise TokenRefusedError(str(error)) from error
        return Identity(user(name), expires_at_ms=ends_at_ms)

    def _asked(self, call: Callable[[], T]) -> T:
        try:
            return call()
        except Exception as error:  # An operator's code: it costs this log-in.
            _log.warning("%s of %s failed: %r", HANDLER, self._mechanism, error)
            raise invalid_credentials(self._mechanism) from error


def own_handler(settings: ListenerSettings, mechanism: str) -> OwnHandler | None:
    """The operator's handler; None if there is none, or it is one of Kafka's. Raises `ConfigError`."""
    found = settings.of_mechanism(mechanism, HANDLER)
    key, named = (f"{settings.prefix}{HANDLER}", settings.text(HANDLER)) if found is None else found
    if not named or named.startswith("org.apache.kafka."):
        return None
    methods = _METHODS.get(mechanism)
    if methods is None:
        raise ConfigError(key, named, f"{mechanism} takes no handler")
    return OwnHandler(_made(settings, key, named, methods), mechanism)


def own_builder(settings: ListenerSettings) -> NamePrincipal | None:
    """The operator's maker of principals; None if there is none. Raises `ConfigError`.

    `principal(recognised)` gets what is known (`ottla.net.security.Recognised`), and returns `User:name`.
    """
    named = settings.text(BUILDER)
    if not named or named == _DEFAULT_BUILDER:
        return None
    builder = _made(settings, f"{settings.prefix}{BUILDER}", named, ("principal",))

    def name_principal(found: Recognised) -> str:
        try:
            principal = builder.principal(found)
            if not isinstance(principal, str) or ":" not in principal:
                raise TypeError(f"principal returned {principal!r}, where User:name was expected")
        except Exception as error:  # An operator's code: it costs this log-in.
            _log.warning("%s failed: %r", BUILDER, error)
            raise SaslRefusedError(f"no principal for {found.principal}: {error}") from error
        return principal

    return name_principal


def _made(settings: ListenerSettings, key: str, named: str, methods: tuple[str, ...]) -> Any:
    return OperatorClass(key, methods, _ADVICE).make(named, settings.given)
