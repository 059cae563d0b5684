"""ExpireDelegationToken (key 40): expire token."""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import bytestring, int16, int32, int64


class ExpireDelegationTokenRequest(Request, api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    hmac: bytes = bytestring("0+")
    expiry_time_period_ms: int = int64("0+")


class ExpireDelegationTokenResponse(Response, api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    error_code: int = int16("0+")
    expiry_timestamp_ms: int = int64("0+")
    throttle_time_ms: int = int32("0+")
