"""HTTP requests without redirects: one could leave TLS, or carry a secret to another server.

Blocks, so callers run it in a thread. `urllib.request` takes a while to import, so import this module late.
"""

import ssl
import urllib.request
from typing import Any


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is answered with `HTTPError`, as any other refusal."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def direct_opener(tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """An opener without redirects; without a context the system decides whom to trust for `https`."""
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if tls is not None:
        handlers.append(urllib.request.HTTPSHandler(context=tls))
    return urllib.request.build_opener(*handlers)
