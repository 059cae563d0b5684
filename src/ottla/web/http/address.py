"""The addresses at which a service listens and is advertised: `http://host:port`."""

from typing import Final
from urllib.parse import urlsplit

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen

_SCHEMES: Final = ("http", "https")


@frozen
class ListenAddress:
    """One listener."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether TLS is spoken there."""
        return self.scheme == "https"

    @property
    def url(self) -> str:
        """The address as a URL.

        >>> ListenAddress("http", "::1", 8081).url
        'http://[::1]:8081'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_listener(text: str) -> ListenAddress:
    """The listener that a setting names; the scheme may be left out.

    >>> parse_listener("http://0.0.0.0:8081")
    ListenAddress(scheme='http', host='0.0.0.0', port=8081)
    >>> parse_listener(":8081").host
    ''
    """
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise ConfigError("listeners", text, str(error)) from None
    if parts.scheme not in _SCHEMES or port is None or parts.path not in ("", "/"):
        raise ConfigError("listeners", text, "Expected http://HOST:PORT or https://HOST:PORT")
    return ListenAddress(parts.scheme, parts.hostname or "", port)
