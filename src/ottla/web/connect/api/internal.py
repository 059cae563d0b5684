"""Requests of Apache Kafka's workers to their leader. Ours never send them: they write tasks themselves.

The checks of the signature are Kafka's. A request with a right one comes from a worker of Apache Kafka that reads the
same config topic; two kinds of workers must not lead one cluster, so it is refused as well, in words.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Final

from ottla.connect.worker.refusal import RefusedError, bad
from ottla.web.connect.api.edge import route
from ottla.web.connect.context import ConnectContext
from ottla.web.http.answer import Answer
from ottla.web.http.request import Request
from ottla.web.http.route import Route

_SIGNATURE: Final = "x-connect-authorization"
_ALGORITHM: Final = "x-connect-request-signature-algorithm"
_DIGESTS: Final = {"HmacSHA256": hashlib.sha256, "HmacSHA1": hashlib.sha1, "HmacSHA512": hashlib.sha512}


class InternalApi:
    """`POST /connectors/{connector}/tasks` and `PUT /connectors/{connector}/fence`."""

    def __init__(self, context: ConnectContext) -> None:
        self._context: Final = context

    def routes(self) -> Sequence[Route]:
        """Method, path and handler of each."""
        return [
            route("POST", "/connectors/{connector}/tasks", self._refuse),
            route("PUT", "/connectors/{connector}/fence", self._refuse),
        ]

    async def _refuse(self, request: Request) -> Answer:
        given, algorithm = request.headers.get(_SIGNATURE), request.headers.get(_ALGORITHM)
        if not given or not algorithm:
            raise bad("Internal request missing required signature")
        if algorithm not in _DIGESTS:
            raise bad(f"This worker does not support the '{algorithm}' key signing algorithm")
        key = self._context.tables.configs.session_key
        if key is None or not _is_signed(await request.body(), given, key.key, algorithm):
            raise RefusedError(403, "Internal request contained invalid signature.")
        raise RefusedError(
            403, "A worker of Apache Kafka belongs to this Connect cluster: stop it before Ottla's workers take over"
        )


def _is_signed(body: bytes, given: str, key: str, algorithm: str) -> bool:
    try:
        signature, secret = base64.b64decode(given, validate=True), base64.b64decode(key, validate=True)
    except binascii.Error:
        return False
    return hmac.compare_digest(hmac.new(secret, body, _DIGESTS[algorithm]).digest(), signature)
