"""CreateDelegationToken (key 38): issues a token to log in with (KIP-48).

Sent by authenticated clients to any broker, which forwards it to the controller; refused on plaintext connections and
on those that logged in by token. Null owner (v3, KIP-373) is the requester. `max_lifetime_ms` -1 takes the server's
limit. For SCRAM the user is `token_id` and the password the base64 of `hmac`; who holds the latter holds the token.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, int16, int32, int64, secret, string


class CreatableRenewers(Struct):
    principal_type: str = string("0+")
    principal_name: str = string("0+")


class CreateDelegationTokenRequest(Request, api=ApiKey.CREATE_DELEGATION_TOKEN, versions="1-3", flexible="2+"):
    owner_principal_type: str | None = string("3+", nullable="3+")
    owner_principal_name: str | None = string("3+", nullable="3+")
    renewers: list[CreatableRenewers] = array(CreatableRenewers, "0+")
    max_lifetime_ms: int = int64("0+")


class CreateDelegationTokenResponse(Response, api=ApiKey.CREATE_DELEGATION_TOKEN, versions="1-3", flexible="2+"):
    error_code: int = int16("0+")
    principal_type: str = string("0+")
    principal_name: str = string("0+")
    token_requester_principal_type: str = string("3+")
    token_requester_principal_name: str = string("3+")
    issue_timestamp_ms: int = int64("0+")
    expiry_timestamp_ms: int = int64("0+")
    max_timestamp_ms: int = int64("0+")
    token_id: str = string("0+")
    hmac: bytes = secret("0+")
    throttle_time_ms: int = int32("0+")
