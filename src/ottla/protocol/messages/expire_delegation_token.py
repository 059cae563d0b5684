"""ExpireDelegationToken (key 40): ends a delegation token's life sooner (KIP-48).

Sent by the token's owner or one of its renewers to any broker, which forwards it to the controller. The token is
named by its `hmac`. A negative `expiry_time_period_ms` removes it at once; otherwise it expires that long from now,
but not after its maximum.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, int64, secret


class ExpireDelegationTokenRequest(Request, api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    hmac: bytes = secret("0+")
    expiry_time_period_ms: int = int64("0+")


class ExpireDelegationTokenResponse(Response, api=ApiKey.EXPIRE_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    error_code: int = int16("0+")
    expiry_timestamp_ms: int = int64("0+")
    throttle_time_ms: int = int32("0+")
