"""Delegation tokens in the metadata log (KIP-48).

DelegationTokenRecord is written when a token is issued and again, whole, whenever it is renewed or its expiry moved;
RemoveDelegationTokenRecord when it is expired at once or found expired. Principals are written Type:name. The token's
HMAC is not in the log: each node derives it from the token id and the cluster's secret key.
"""

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
