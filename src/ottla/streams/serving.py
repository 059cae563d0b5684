"""Interactive queries over HTTP, for an instance that is told where to listen: `query.listeners`.

The service is found by name, since the layer of HTTP lies above this one. Its other settings have `query.` in front.
"""

import importlib
import socket
from collections.abc import Mapping
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from ottla.base.config import ConfigError

PREFIX: Final = "query."
LISTENERS: Final = "query.listeners"
_SERVICE: Final = "ottla.web.streams.serving"
_EVERYWHERE: Final = ("", "0.0.0.0", "::")


class Serving(Protocol):
    """A service that runs."""

    def close(self) -> None:
        """Ends it."""
        ...


def served(streams: Any, config: Mapping[str, Any]) -> Serving | None:
    """Serves the stores of an instance over HTTP; None without `query.listeners`."""
    if not config.get(LISTENERS):
        return None
    settings = {name.removeprefix(PREFIX): value for name, value in config.items() if name.startswith(PREFIX)}
    try:
        service = importlib.import_module(_SERVICE)
    except ImportError as error:
        raise ConfigError(LISTENERS, config[LISTENERS], f"needs pip install 'ottla[web]' ({error})") from None
    found: Serving = service.serve(streams, settings)
    return found


def application_server(config: Mapping[str, Any]) -> str:
    """`application.server`: where other instances ask this one; the first listener unless it is given.

    >>> application_server({"query.listeners": "http://localhost:7070"})
    'localhost:7070'
    """
    given = str(config.get("application.server") or "")
    listeners = config.get(LISTENERS)
    if given or not listeners:
        return given
    first = str(listeners if isinstance(listeners, str) else listeners[0]).split(",")[0].strip()
    try:
        parts = urlsplit(first if "://" in first else f"http://{first}")
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ConfigError(LISTENERS, first, str(error)) from None
    if not port:
        raise ConfigError(LISTENERS, first, "needs a port that others can be told, or application.server beside it")
    return f"{socket.gethostname() if host in _EVERYWHERE else host}:{port}"
