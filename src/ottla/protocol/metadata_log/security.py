"""Access control entries, SCRAM credentials and delegation tokens in the metadata log. Only version 0 exists."""

from ottla.base.ids import Uuid
from ottla.protocol.field import array, bytestring, int8, int32, int64, secret, string, uuid
from ottla.protocol.metadata_log.record import MetadataRecord


class AccessControlEntryRecord(MetadataRecord, type_id=18, versions="0", flexible="0+"):
    """An access control entry.

    The controller gives every entry an `id` and writes one record for each that CreateAcls adds; DeleteAcls leaves a
    RemoveAccessControlEntryRecord, which knows only the id. The numbers are those of the API: `pattern_type` 3 literal,
    4 prefixed; `permission_type` 2 deny, 3 allow. Filter values (any, match) never get here.
    """

    id: Uuid = uuid("0+")
    resource_type: int = int8("0+")
    resource_name: str = string("0+")
    pattern_type: int = int8("0+")
    principal: str = string("0+")
    host: str = string("0+")
    operation: int = int8("0+")
    permission_type: int = int8("0+")


class RemoveAccessControlEntryRecord(MetadataRecord, type_id=19, versions="0", flexible="0+"):
    id: Uuid = uuid("0+")


class UserScramCredentialRecord(MetadataRecord, type_id=11, versions="0", flexible="0+"):
    """A SCRAM credential (KIP-554), one for each user and `mechanism`: 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.

    Written by AlterUserScramCredentials, and by formatting for the first users (KIP-900). `stored_key` and `server_key`
    are what RFC 5802 lets a server keep; the salted password, from which the controller derives them, is not written.
    RemoveUserScramCredentialRecord drops one mechanism, not the user.
    """

    name: str = string("0+")
    mechanism: int = int8("0+")
    salt: bytes = bytestring("0+")
    stored_key: bytes = secret("0+")
    server_key: bytes = secret("0+")
    iterations: int = int32("0+")


class RemoveUserScramCredentialRecord(MetadataRecord, type_id=22, versions="0", flexible="0+"):
    name: str = string("0+")
    mechanism: int = int8("0+")


class DelegationTokenRecord(MetadataRecord, type_id=10, versions="0", flexible="0+"):
    """A delegation token (KIP-48).

    Written when a token is issued and again, whole, whenever it is renewed or its expiry moved;
    RemoveDelegationTokenRecord when it is expired at once or found expired. Principals are written Type:name. The
    token's HMAC is not in the log: each node derives it from the token id and the cluster's secret key.
    """

    owner: str = string("0+")
    requester: str = string("0+")
    renewers: list[str] = array(string, "0+")
    issue_timestamp: int = int64("0+")
    max_timestamp: int = int64("0+")
    expiration_timestamp: int = int64("0+")
    token_id: str = string("0+")


class RemoveDelegationTokenRecord(MetadataRecord, type_id=26, versions="0", flexible="0+"):
    token_id: str = string("0+")
