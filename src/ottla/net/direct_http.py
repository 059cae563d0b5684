"""HTTP requests that end where the settings say: a redirect could leave TLS, or carry a secret to somebody else.

Blocks, so callers run it in a thread. `urllib.request` takes a while to import: who rarely needs this imports it late.
"""

import ssl
import urllib.request
from typing import Any


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is answered with `HTTPError`, as any other refusal."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def direct_opener(tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """What opens addresses; without a context, the system says whom to trust for `https`."""
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if tls is not None:
        handlers.append(urllib.request.HTTPSHandler(context=tls))
    return urllib.request.build_opener(*handlers)
