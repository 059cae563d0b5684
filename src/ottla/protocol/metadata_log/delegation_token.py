"""Delegation tokens in the metadata log."""

from ottla.protocol.field import array, int64, string
from ottla.protocol.metadata_log.record import MetadataRecord


class DelegationTokenRecord(MetadataRecord, type_id=10, versions="0", flexible="0+"):
    owner: str = string("0+")
    requester: str = string("0+")
    renewers: list[str] = array(string, "0+")
    issue_timestamp: int = int64("0+")
    max_timestamp: int = int64("0+")
    expiration_timestamp: int = int64("0+")
    token_id: str = string("0+")


class RemoveDelegationTokenRecord(MetadataRecord, type_id=26, versions="0", flexible="0+"):
    token_id: str = string("0+")
