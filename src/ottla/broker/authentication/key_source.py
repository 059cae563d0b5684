"""The keys of an OAuth provider, kept fresh by a thread of their own: no log-in waits for the provider.

The thread fetches them every `refresh_ms`, and sooner when a token names a key that is not there, but then not more
often than `pause_max_ms` says. Keys that were fetched once count until newer ones come, however long that takes.
"""

import http.client
import logging
import ssl
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ottla.base.frozen import frozen
from ottla.net.direct_http import direct_opener
from ottla.net.sasl.web_key import KeySet, parse_keys

_log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 10.0
_ANSWER_BYTES_MAX: Final = 1 << 20
_WAIT_MAX_S: Final = 3_600.0
"""A wait that the system can count; longer ones are made of several."""


@frozen
class KeyPlace:
    """The address of the keys, and the intervals at which they are fetched."""

    url: str
    refresh_ms: int
    pause_ms: int
    pause_max_ms: int
    tls: ssl.SSLContext | None = None


class KeySource:
    """One provider's keys. `close` ends its thread, after the fetch that may be under way."""

    def __init__(self, place: KeyPlace) -> None:
        self._place: Final = place
        self._fetch: Final = _fetcher(place)
        self._changed: Final = threading.Condition()
        self._is_wanted = False
        self._is_closed = False
        self._failures = 0
        self.keys: KeySet = ()
        """The newest; empty as long as none could be fetched. Read on any thread: it is replaced whole."""

    def start(self) -> None:
        """Begins to fetch."""
        threading.Thread(target=self._run, name="ottla-oauth-keys", daemon=True).start()

    def want_newer(self) -> None:
        """Notes that a token names an unknown key. May be called on any thread, and any number of times."""
        with self._changed:
            self._is_wanted = True
            self._changed.notify()

    def close(self) -> None:
        """Stops fetching."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def read(self) -> None:
        """Fetches now. Raises `OSError` and `ValueError`."""
        self.keys = parse_keys(self._fetch())

    def _run(self) -> None:
        while not self._is_closed:
            with self._changed:
                self._is_wanted = False
            self._rest(self._read_once() / 1000)

    def _read_once(self) -> int:
        """Fetches the keys; the pause until the next fetch in milliseconds."""
        place = self._place
        try:
            self.read()
        except (OSError, ValueError) as error:
            pause_ms = min(place.pause_max_ms, place.pause_ms << min(self._failures, 30))
            self._failures += 1
            say = _log.error if self._failures == 1 else _log.debug
            kept = f"the {len(self.keys)} of before count on" if self.keys else "no token is accepted until then"
            say("No keys from %s, which is asked again: %s; %s", place.url, error, kept)
            return pause_ms
        if self._failures:
            _log.info("There are keys from %s again", place.url)
        self._failures = 0
        return place.refresh_ms

    def _rest(self, rest_s: float) -> None:
        now = time.monotonic()
        # A client that invents names of keys must not cause a flood of requests to the provider.
        due, earliest = now + rest_s, now + min(rest_s, self._place.pause_max_ms / 1000)
        with self._changed:
            while not self._is_closed:
                left_s = (earliest if self._is_wanted else due) - time.monotonic()
                if left_s <= 0:
                    return
                self._changed.wait(min(left_s, _WAIT_MAX_S))


def _fetcher(place: KeyPlace) -> Callable[[], bytes]:
    parts = urlsplit(place.url)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).read_bytes
    opener = direct_opener(place.tls)

    def fetch() -> bytes:
        request = urllib.request.Request(place.url, headers={"Accept": "application/json"})
        try:
            with opener.open(request, timeout=_TIMEOUT_S) as answer:
                found: bytes = answer.read(_ANSWER_BYTES_MAX)
                return found
        except urllib.error.HTTPError as error:
            with error:
                raise OSError(f"HTTP {error.code} {error.reason}") from None
        except http.client.HTTPException as error:
            raise OSError(f"no answer of HTTP: {error!r}") from None

    return fetch
