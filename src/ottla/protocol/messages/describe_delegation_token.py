"""DescribeDelegationToken (key 41): lists the delegation tokens that the caller may see (KIP-48).

Sent by clients; brokers answer from their own metadata. Null `owners` asks for all tokens, empty for none. The answer
includes each token's `hmac`, its secret. v3 adds who requested the token, which need not be the owner (KIP-373).
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, secret, string


class DescribeDelegationTokenOwner(Struct):
    principal_type: str = string("0+")
    principal_name: str = string("0+")


class DescribeDelegationTokenRequest(Request, api=ApiKey.DESCRIBE_DELEGATION_TOKEN, versions="1-3", flexible="2+"):
    owners: list[DescribeDelegationTokenOwner] | None = array(DescribeDelegationTokenOwner, "0+", nullable="0+")


class DescribedDelegationTokenRenewer(Struct):
    principal_type: str = string("0+")
    principal_name: str = string("0+")


class DescribedDelegationToken(Struct):
    principal_type: str = string("0+")
    principal_name: str = string("0+")
    token_requester_principal_type: str = string("3+")
    token_requester_principal_name: str = string("3+")
    issue_timestamp: int = int64("0+")
    expiry_timestamp: int = int64("0+")
    max_timestamp: int = int64("0+")
    token_id: str = string("0+")
    hmac: bytes = secret("0+")
    renewers: list[DescribedDelegationTokenRenewer] = array(DescribedDelegationTokenRenewer, "0+")


class DescribeDelegationTokenResponse(Response, api=ApiKey.DESCRIBE_DELEGATION_TOKEN, versions="1-3", flexible="2+"):
    error_code: int = int16("0+")
    tokens: list[DescribedDelegationToken] = array(DescribedDelegationToken, "0+")
    throttle_time_ms: int = int32("0+")
