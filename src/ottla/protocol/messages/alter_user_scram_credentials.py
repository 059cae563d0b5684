"""AlterUserScramCredentials (key 51): sets or deletes users' SCRAM credentials (KIP-554).

Sent by admin clients to any broker, which forwards it to the controller. The client salts and hashes: the server sees
`salted_password`, never the password. Mechanism 1 is SCRAM-SHA-256, 2 is SCRAM-SHA-512. The answer has one result per
user.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response, Struct
from ottla.protocol.field import array, bytestring, int8, int16, int32, secret, string


class ScramCredentialDeletion(Struct):
    name: str = string("0+")
    mechanism: int = int8("0+")


class ScramCredentialUpsertion(Struct):
    name: str = string("0+")
    mechanism: int = int8("0+")
    iterations: int = int32("0+")
    salt: bytes = bytestring("0+")
    salted_password: bytes = secret("0+")


class AlterUserScramCredentialsRequest(Request, api=ApiKey.ALTER_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"):
    deletions: list[ScramCredentialDeletion] = array(ScramCredentialDeletion, "0+")
    upsertions: list[ScramCredentialUpsertion] = array(ScramCredentialUpsertion, "0+")


class AlterUserScramCredentialsResult(Struct):
    user: str = string("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")


class AlterUserScramCredentialsResponse(Response, api=ApiKey.ALTER_USER_SCRAM_CREDENTIALS, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    results: list[AlterUserScramCredentialsResult] = array(AlterUserScramCredentialsResult, "0+")
