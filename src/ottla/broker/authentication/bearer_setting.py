"""Reads a listener's settings for bearer tokens: signed ones by the keys of a provider, or unsigned ones for trials.

`sasl.oauthbearer.jwks.endpoint.url` or Kafka's handler demands signed tokens; unsigned ones are then refused.
"""

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, urlsplit

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.sasl.jaas import JaasConfig
from ottla.net.sasl.oauthbearer import MECHANISM, ReadToken, TokenRefusedError
from ottla.net.sasl.server import Identity
from ottla.net.sasl.unsecured_token import UnsecuredRules, unsecured_reader
from ottla.net.tls.context import client_context
from ottla.net.tls.setting import TlsSettings

if TYPE_CHECKING:
    # At run time only listeners that check signatures need the package `cryptography`, which is an extra.
    from ottla.broker.authentication.key_source import KeySource
    from ottla.net.sasl.signed_token import SignedRules

_log = logging.getLogger(__name__)

_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer"
_HANDLER: Final = "sasl.server.callback.handler.class"
_VALIDATOR: Final = "sasl.oauthbearer.jwt.validator.class"
_VALIDATORS: Final = (f"{_PACKAGE}.DefaultJwtValidator", f"{_PACKAGE}.BrokerJwtValidator")
_PLACE: Final = "sasl.oauthbearer.jwks.endpoint"
_URL: Final = f"{_PLACE}.url"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def bearer_handler(settings: ListenerSettings, mechanism: str) -> bool:
    """Whether Kafka's handler for signed tokens is set. Raises `ConfigError` for any other."""
    found = settings.of_mechanism(mechanism, _HANDLER)
    name = settings.text(_HANDLER) if found is None else found[1]
    if name is None:
        return False
    if mechanism == MECHANISM and name == f"{_PACKAGE}.OAuthBearerValidatorCallbackHandler":
        return True
    # To go on without it would let in whom it keeps out.
    raise ConfigError(f"{settings.prefix}{_HANDLER}", name, "handlers of users are not served by this release")


class BearerListener:
    """A listener's settings of bearer tokens. Raises `ConfigError`."""

    def __init__(
        self,
        settings: ListenerSettings,
        entry: JaasConfig,
        allowed_urls: frozenset[str] | None,
        now_ms: Callable[[], int],
    ) -> None:
        self.source: KeySource | None = None
        """The provider's keys, to be started; None if nothing is checked by keys."""
        self.read: ReadToken
        url = _text(settings, _URL)
        if bearer_handler(settings, MECHANISM) or url is not None:
            self.source = _key_source(settings, entry.options, _checked_url(settings, url, allowed_urls))
            self.read = _signed_reader(self.source, _rules(settings), now_ms)
            return
        try:
            rules = UnsecuredRules.of(entry.options)
        except ValueError as error:
            raise ConfigError(f"{settings.prefix}oauthbearer.sasl.jaas.config", "***", str(error)) from None
        _log.warning("[%s] accepts unsigned bearer tokens: for trials only", settings.name)
        self.read = unsecured_reader(rules, now_ms)


def _signed_reader(source: "KeySource", rules: "SignedRules", now_ms: Callable[[], int]) -> ReadToken:
    from ottla.net.sasl.signed_token import UnknownKeyError, read_signed

    def read(token: str) -> Identity:
        try:
            return read_signed(token, source.keys, rules, now_ms())
        except UnknownKeyError as error:
            source.want_newer()
            _log.info("A bearer token is refused: %s; the keys are fetched again", error)
            raise
        except TokenRefusedError as error:
            _log.info("A bearer token is refused: %s", error)
            raise

    return read


def _rules(settings: ListenerSettings) -> "SignedRules":
    from ottla.net.sasl.signed_token import SignedRules

    validator = _text(settings, _VALIDATOR)
    if validator not in _VALIDATORS:
        raise ConfigError(f"{settings.prefix}{_VALIDATOR}", validator, f"Expected {_VALIDATORS[0]}")
    audiences = settings.mechanism_value(MECHANISM, "sasl.oauthbearer.expected.audience")
    assert isinstance(audiences, tuple)
    issuer = _text(settings, "sasl.oauthbearer.expected.issuer")
    for name, is_given in (("audience", audiences), ("issuer", issuer)):
        if not is_given:
            _log.warning(
                "[%s] takes the tokens that its provider signs for others too: set sasl.oauthbearer.expected.%s",
                settings.name,
                name,
            )
    return SignedRules(
        principal_claim=_claim_name(settings, "sasl.oauthbearer.sub.claim.name"),
        scope_claim=_claim_name(settings, "sasl.oauthbearer.scope.claim.name"),
        audiences=frozenset(audiences),
        issuer=issuer or None,
        clock_skew_ms=_integer(settings, "sasl.oauthbearer.clock.skew.seconds", 0) * 1_000,
    )


def _key_source(settings: ListenerSettings, options: Mapping[str, str], url: SplitResult) -> "KeySource":
    try:
        from ottla.broker.authentication.key_source import KeyPlace, KeySource
    except ImportError:
        raise ConfigError(
            f"{settings.prefix}{_URL}",
            url.geturl(),
            "signatures need the package cryptography: pip install 'ottla[tls]'",
        ) from None
    source = KeySource(
        KeyPlace(
            url=url.geturl(),
            refresh_ms=_integer(settings, f"{_PLACE}.refresh.ms", 1),
            pause_ms=_integer(settings, f"{_PLACE}.retry.backoff.ms", 1),
            pause_max_ms=_integer(settings, f"{_PLACE}.retry.backoff.max.ms", 1),
            tls=client_context(TlsSettings.of_options(options)) if url.scheme == "https" else None,
        )
    )
    if url.scheme == "file":
        try:
            source.read()
        except (OSError, ValueError) as error:
            raise ConfigError(f"{settings.prefix}{_URL}", url.geturl(), f"no keys there: {error}") from None
    elif url.scheme == "http" and url.hostname not in _LOOPBACK:
        _log.warning("The keys at %s come without TLS: who changes them on their way makes any user", url.geturl())
    return source


def _checked_url(settings: ListenerSettings, url: str | None, allowed: frozenset[str] | None) -> SplitResult:
    key = f"{settings.prefix}{_URL}"
    if url is None:
        raise ConfigError(key, None, "the place of the keys is needed that tokens are checked with")
    if allowed is not None and url not in allowed:
        raise ConfigError(key, url, "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls in KAFKA_OPTS does not name it")
    try:
        parts = urlsplit(url)
        is_usable = bool(parts.path if parts.scheme == "file" else parts.scheme in ("http", "https") and parts.hostname)
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ConfigError(key, url, "Expected https://..., http://... or file:///... of a set of keys (JWKS)")
    return parts


def _text(settings: ListenerSettings, key: str) -> str | None:
    value = settings.mechanism_value(MECHANISM, key)
    return None if value is None else str(value).strip()


def _claim_name(settings: ListenerSettings, key: str) -> str:
    name = _text(settings, key)
    if not name:
        raise ConfigError(f"{settings.prefix}{key}", name, "the name of a claim is needed")
    return name


def _integer(settings: ListenerSettings, key: str, smallest: int) -> int:
    value = settings.mechanism_value(MECHANISM, key)
    assert isinstance(value, int)
    if value < smallest:
        raise ConfigError(f"{settings.prefix}{key}", value, f"Expected at least {smallest}")
    return value
