"""A provider of tokens on a real socket: it shows its keys, and gives tokens for client credentials."""

import base64
import json
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs

from tests.bearer.signing_key import SigningKey, key_set

AUDIENCE = "kafka"
CLIENT = ("alice", "her secret")


class TokenProvider:
    """One provider; its key may be replaced, and it may be away, while others ask it."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.key = SigningKey("first")
        self.is_away = False
        self.moved_to: str | None = None
        """Where it sends those who ask for its keys, or for a token."""
        self.fetches = 0
        """How often somebody asked for the keys."""
        self.given = 0
        """How many tokens it gave for credentials."""
        self.life_s = 600.0
        """How long they last."""
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.fetches += 1
                if provider.moved_to is None:
                    self._answer(503 if provider.is_away else 200, key_set(provider.key))
                else:
                    self._answer(302, b"", Location=provider.moved_to)

            def do_POST(self) -> None:
                fields = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                if provider.moved_to is not None:
                    self._answer(302, b"", Location=provider.moved_to)
                    return
                expected = "Basic " + base64.b64encode(":".join(CLIENT).encode()).decode()
                if self.headers["Authorization"] != expected or fields["grant_type"] != ["client_credentials"]:
                    self._answer(401, b"{}")
                    return
                token = provider.token(CLIENT[0], provider.life_s, scope=fields.get("scope", ["kafka"])[0])
                said = {"access_token": token, "token_type": "Bearer"}
                provider.given += 1
                self._answer(200, json.dumps(said).encode())

            def _answer(self, status: int, body: bytes, **headers: str) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self.issuer = f"{'http' if tls is None else 'https'}://localhost:{self._server.server_port}"

    def rotate(self, key_id: str) -> None:
        """A new key; the old one is not shown any more."""
        self.key = SigningKey(key_id)

    def token(self, name: str, life_s: float = 600, **changes: object) -> str:
        """A token that the newest key signed."""
        now = time.time()
        claims = {"sub": name, "aud": AUDIENCE, "iss": self.issuer, "iat": now, "exp": now + life_s}
        return self.key.token(claims | changes)

    def broker_settings(self, listener: str) -> dict[str, str]:
        """What a broker checks the tokens of this provider with."""
        prefix = f"listener.name.{listener}.oauthbearer.sasl"
        keys = f"{prefix}.oauthbearer.jwks.endpoint"
        handler = "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
        return {
            f"{prefix}.server.callback.handler.class": handler,
            f"{keys}.url": f"{self.issuer}/keys",
            f"{keys}.retry.backoff.max.ms": "200",
            f"{prefix}.oauthbearer.expected.audience": f"other,{AUDIENCE}",
            f"{prefix}.oauthbearer.expected.issuer": self.issuer,
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
