"""RenewDelegationToken (key 39): extends a delegation token's life (KIP-48).

Sent by the token's owner or one of its renewers to any broker, which forwards it to the controller. The token is
named by its `hmac`. `renew_period_ms` counts from now. 0 or less takes the server's renewal time, which is also the
most one can get, and the maximum fixed at creation is never passed.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, int64, secret


class RenewDelegationTokenRequest(Request, api=ApiKey.RENEW_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    hmac: bytes = secret("0+")
    renew_period_ms: int = int64("0+")


class RenewDelegationTokenResponse(Response, api=ApiKey.RENEW_DELEGATION_TOKEN, versions="1-2", flexible="2+"):
    error_code: int = int16("0+")
    expiry_timestamp_ms: int = int64("0+")
    throttle_time_ms: int = int32("0+")
