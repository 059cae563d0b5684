"""Gets the tokens of OAUTHBEARER, and keeps one until it has to be renewed.

In the order in which they are looked for: the user's callable (`sasl.login.callback.handler.class`), a file or an
OAuth provider (`sasl.oauthbearer.token.endpoint.url`, with client credentials), or an unsigned token for trials (the
options `unsecuredLogin...` of `sasl.jaas.config`), as in Kafka.
"""

import asyncio
import base64
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from ottla.base.config import ConfigError
from ottla.base.dice import DICE
from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.security.token_endpoint import TokenEndpoint, read_token_file

_PACKAGE: Final = "org.apache.kafka.common.security.oauthbearer"
_HANDLERS: Final = {
    f"{_PACKAGE}.OAuthBearerLoginCallbackHandler": "ottla.client.security.token_source:by_settings",
    f"{_PACKAGE}.secured.OAuthBearerLoginCallbackHandler": "ottla.client.security.token_source:by_settings",
}
_HANDLER: Final = "sasl.login.callback.handler.class"
_URL: Final = "sasl.oauthbearer.token.endpoint.url"


@frozen
class Token:
    """A bearer token and the time at which it ends, in seconds since 1970; None: it does not say."""

    value: str = field(repr=False)
    expires_at: float | None = None


Fetch: TypeAlias = Callable[[], Awaitable[Token]]
"""Gets a new token."""


def by_settings() -> None:
    """Stands for Java's handler, which does what the other settings say."""


class TokenSource:
    """Gets a token when there is none, or when most of its life is over."""

    def __init__(self, settings: ClientSettings, options: Mapping[str, str]) -> None:
        self._settings: Final = settings
        self._fetch: Final = _fetcher(settings, options)
        self._lock: Final = asyncio.Lock()
        self._token: Token | None = None
        self._refresh_at = 0.0

    async def token(self) -> str:
        """A token that is valid for a while. Raises `AuthenticationFailedError` if there is none to be had."""
        async with self._lock:
            if self._token is None or time.time() >= self._refresh_at:
                self._token = await self._fetch()
                self._refresh_at = self._refresh_time(self._token)
            return self._token.value

    def _refresh_time(self, token: Token) -> float:
        """After a share of its life, some time before its end, but not at once (`sasl.login.refresh.*`)."""
        now, settings = time.time(), self._settings
        if token.expires_at is None:
            return now
        life_s = token.expires_at - now
        factor = settings.number("sasl.login.refresh.window.factor")
        factor += settings.number("sasl.login.refresh.window.jitter") * DICE.random()
        shortest_s = settings.integer("sasl.login.refresh.min.period.seconds")
        buffer_s = settings.integer("sasl.login.refresh.buffer.seconds")
        wanted_s = min(life_s * factor, life_s - buffer_s)
        return now + min(max(wanted_s, shortest_s), life_s * factor)


def _fetcher(settings: ClientSettings, options: Mapping[str, str]) -> Fetch:
    handler = settings.plugin(_HANDLER, _HANDLERS)
    if handler is not None and handler is not by_settings:
        if not callable(handler):
            raise ConfigError(_HANDLER, handler, "Expected a callable that returns a token")
        return _UserCall(handler)
    url = settings.optional_string(_URL)
    if url is not None:
        return _from_url(settings, options, url)
    if any(name.startswith("unsecuredLogin") for name in options):
        return _Unsecured(options)
    raise ConfigError(
        "sasl.mechanism", "OAUTHBEARER", f"where tokens come from must be said: {_HANDLER} (a callable) or {_URL}"
    )


def _from_url(settings: ClientSettings, options: Mapping[str, str], url: str) -> Fetch:
    parts = urlsplit(url)
    if parts.scheme == "file":
        path = parts.path

        async def read() -> Token:
            return token_of(await asyncio.to_thread(read_token_file, path))

        return read
    if parts.scheme not in ("http", "https"):
        raise ConfigError(_URL, url, "Expected https://..., or file:///... of a file that holds a token")
    endpoint = TokenEndpoint.of(settings, options, url)

    async def ask() -> Token:
        return token_of(await endpoint.token())

    return ask


class _UserCall:
    """The user's callable: it returns text or a `Token`, at once or as a coroutine."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call: Final = call

    async def __call__(self) -> Token:
        """Asks the user's code; a plain function may block, so it runs in a thread."""
        try:
            if inspect.iscoroutinefunction(self._call):
                result = await self._call()
            else:
                result = await asyncio.to_thread(self._call)
                if inspect.isawaitable(result):
                    result = await result
        except Exception as error:  # users' code: its trouble is the log-in's
            raise AuthenticationFailedError(f"{_HANDLER} raised {type(error).__name__}: {error}") from error
        if isinstance(result, Token):
            return result
        if isinstance(result, str) and result:
            return token_of(result)
        raise AuthenticationFailedError(f"{_HANDLER} returned {type(result).__name__}, where a token was expected")


class _Unsecured:
    """Tokens without a signature, for trials: the broker believes them only if it was set up to."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options: Final = options

    async def __call__(self) -> Token:
        """Writes a token."""
        options, now = self._options, time.time()
        life_s = float(options.get("unsecuredLoginLifetimeSeconds", "3600"))
        claims: dict[str, object] = {"iat": now, "exp": now + life_s}
        for name, value in options.items():
            if name.startswith("unsecuredLoginStringClaim_"):
                claims[name.removeprefix("unsecuredLoginStringClaim_")] = value
            elif name.startswith("unsecuredLoginNumberClaim_"):
                claims[name.removeprefix("unsecuredLoginNumberClaim_")] = float(value)
        parts = ({"alg": "none"}, claims)
        encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
        return Token(f"{encoded[0]}.{encoded[1]}.", now + life_s)


def token_of(text: str) -> Token:
    """A token with the end that it claims for itself, if it is a JWT.

    >>> token_of("opaque").expires_at is None
    True
    """
    parts = text.split(".")
    if len(parts) != 3:
        return Token(text)
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return Token(text)
    expires_at = claims.get("exp") if isinstance(claims, dict) else None
    return Token(text, float(expires_at) if isinstance(expires_at, (int, float)) else None)
