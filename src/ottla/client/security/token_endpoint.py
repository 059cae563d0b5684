"""Gets tokens from an OAuth provider with client credentials (RFC 6749 section 4.4), or from a file.

Everything here blocks: callers run it in a thread.
"""

import asyncio
import base64
import json
from collections.abc import Mapping
from pathlib import Path
from ssl import SSLContext
from typing import Final
from urllib.parse import quote, urlencode

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.client.cluster.backoff import Backoff
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.net.tls.context import client_context
from ottla.net.tls.setting import TlsSettings

_PREFIX: Final = "sasl.oauthbearer.client.credentials"
_TIMEOUT_S: Final = 10.0
_ATTEMPTS_MAX: Final = 3
_PASSING: Final = (408, 425, 429, 500, 502, 503, 504)
_ANSWER_BYTES_MAX: Final = 1 << 20


@frozen
class TokenEndpoint:
    """A provider and what it is asked with."""

    url: str
    authorization: str
    body: bytes
    timeout_s: float
    backoff: Backoff
    tls: SSLContext | None = None
    """Whom to trust where the login module says so; else the system says it."""

    def __repr__(self) -> str:
        return f"TokenEndpoint(url={self.url!r})"

    @classmethod
    def of(cls, settings: ClientSettings, options: Mapping[str, str], url: str) -> "TokenEndpoint":
        """Reads the settings and the options of `sasl.jaas.config`."""
        client_id = settings.optional_string(f"{_PREFIX}.client.id") or options.get("clientId")
        secret = settings.secret(f"{_PREFIX}.client.secret") or options.get("clientSecret")
        if not client_id or not secret:
            raise ConfigError(f"{_PREFIX}.client.id", client_id, "id and secret are needed to get tokens")
        if settings.boolean("sasl.oauthbearer.header.urlencode"):
            client_id, secret = quote(client_id, safe=""), quote(secret, safe="")
        fields = {"grant_type": "client_credentials"}
        scope = settings.optional_string("sasl.oauthbearer.scope") or options.get("scope")
        if scope:
            fields["scope"] = scope
        timeout_ms = settings.optional_integer("sasl.login.read.timeout.ms")
        return cls(
            url,
            "Basic " + base64.b64encode(f"{client_id}:{secret}".encode()).decode(),
            urlencode(fields).encode(),
            _TIMEOUT_S if timeout_ms is None else timeout_ms / 1000,
            Backoff(
                settings.integer("sasl.login.retry.backoff.ms"), settings.integer("sasl.login.retry.backoff.max.ms")
            ),
            _tls(options) if url.startswith("https:") else None,
        )

    async def token(self) -> str:
        """A new token; troubles that may pass are tried again. Raises `AuthenticationFailedError`."""
        # Clients without OAuth, which are most, need not wait for this import.
        import urllib.error

        for attempt in range(_ATTEMPTS_MAX):
            try:
                return await asyncio.to_thread(self._ask)
            except urllib.error.HTTPError as error:
                with error:
                    reason = f"HTTP {error.code} {error.reason}"
                if error.code not in _PASSING:
                    break
            except (OSError, ValueError) as error:
                reason = str(error)
            await asyncio.sleep(self.backoff.delay_ms(attempt) / 1000)
        raise AuthenticationFailedError(
            f"no token from {self.url}: {reason}; check the address and the client's id and secret"
        )

    def _ask(self) -> str:
        import urllib.request

        from ottla.net.direct_http import direct_opener

        request = urllib.request.Request(
            self.url,
            data=self.body,
            headers={
                "Accept": "application/json",
                "Authorization": self.authorization,
                "Content-Type": "application/x-www-form-urlencoded",
            },
        )
        # A redirect would get the id and the secret, too.
        with direct_opener(self.tls).open(request, timeout=self.timeout_s) as answer:
            said = json.loads(answer.read(_ANSWER_BYTES_MAX))
        token = said.get("access_token") if isinstance(said, dict) else None
        if not isinstance(token, str) or not token:
            raise ValueError("the answer has no access_token")
        return token


def _tls(options: Mapping[str, str]) -> SSLContext | None:
    """The TLS context; None where a login module names no stores: then the system's certificates count."""
    return client_context(TlsSettings.of_options(options)) if any(name.startswith("ssl.") for name in options) else None


def read_token_file(path: str) -> str:
    """The token in a file, which another program may replace at any time."""
    try:
        text = Path(path).read_text().strip()
    except OSError as error:
        raise AuthenticationFailedError(f"no token from {path}: {error.strerror}") from error
    if not text:
        raise AuthenticationFailedError(f"no token from {path}: the file is empty")
    return text
