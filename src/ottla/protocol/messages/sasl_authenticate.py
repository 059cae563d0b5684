"""SaslAuthenticate (key 36): carries one step of the SASL exchange (KIP-152).

Sent by clients and nodes of the cluster after SaslHandshake v1, as often as the mechanism needs. A failure answers
SASL_AUTHENTICATION_FAILED and closes the connection. v1 returns `session_lifetime_ms`: 0 sets no limit, otherwise the
client must authenticate again on the same connection before that time is over (KIP-368).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int64, secret, string


class SaslAuthenticateRequest(Request, api=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    auth_bytes: bytes = secret("0+")


class SaslAuthenticateResponse(Response, api=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    auth_bytes: bytes = secret("0+")
    session_lifetime_ms: int = int64("1+", ignorable=True)
