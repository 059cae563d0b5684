"""SaslAuthenticate (key 36): SASL exchange bytes."""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import bytestring, int16, int64, string


class SaslAuthenticateRequest(Request, api=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    auth_bytes: bytes = bytestring("0+")


class SaslAuthenticateResponse(Response, api=ApiKey.SASL_AUTHENTICATE, versions="0-2", flexible="2+"):
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
    auth_bytes: bytes = bytestring("0+")
    session_lifetime_ms: int = int64("1+", ignorable=True)
