"""SCRAM credentials in the metadata log (KIP-554).

Written by AlterUserScramCredentials, and by formatting for the first users (KIP-900). One per user and `mechanism`: 1
SCRAM-SHA-256, 2 SCRAM-SHA-512. `stored_key` and `server_key` are what RFC 5802 lets a server keep; the salted
password, from which the controller derives them, is not written. RemoveUserScramCredentialRecord drops one mechanism,
not the user.
"""

from ottla.protocol.field import bytestring, int8, int32, secret, string
from ottla.protocol.metadata_log.record import MetadataRecord


class UserScramCredentialRecord(MetadataRecord, type_id=11, versions="0", flexible="0+"):
    name: str = string("0+")
    mechanism: int = int8("0+")
    salt: bytes = bytestring("0+")
    stored_key: bytes = secret("0+")
    server_key: bytes = secret("0+")
    iterations: int = int32("0+")


class RemoveUserScramCredentialRecord(MetadataRecord, type_id=22, versions="0", flexible="0+"):
    name: str = string("0+")
    mechanism: int = int8("0+")
