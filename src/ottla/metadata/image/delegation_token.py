"""Delegation tokens by id, and the password of one, which the log does not hold (KIP-48)."""

import hmac
from typing import NamedTuple

from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.security import DelegationTokenRecord, RemoveDelegationTokenRecord


def token_hmac(secret: bytes, token_id: str) -> bytes:
    """The HMAC of a token, in base64 its password: made from the cluster's secret, so every node knows it."""
    return hmac.digest(secret, token_id.encode(), "sha512")


class DelegationToken(NamedTuple):
    """A token; principals are written `User:name`."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int

    def has_expired(self, now_ms: int) -> bool:
        """Whether its time is up, or its renewed time."""
        return self.max_timestamp < now_ms or self.expiration_timestamp < now_ms

    def is_managed_by(self, principal: str) -> bool:
        """Whether a principal may renew and end it: its owner or a renewer."""
        return principal == self.owner or principal in self.renewers

    def is_seen_by(self, principal: str) -> bool:
        """Whether a principal may see it: also the requester, as at Apache Kafka."""
        return principal == self.requester or self.is_managed_by(principal)

    def to_record(self) -> DelegationTokenRecord:
        return DelegationTokenRecord(**{**self._asdict(), "renewers": list(self.renewers)})


class DelegationTokensDelta(MapDelta[str, DelegationToken]):
    """Changes to tokens."""

    __slots__ = ()

    def replay(self, record: DelegationTokenRecord) -> None:
        token = DelegationToken(
            record.token_id,
            record.owner,
            record.requester,
            tuple(record.renewers),
            record.issue_timestamp,
            record.max_timestamp,
            record.expiration_timestamp,
        )
        self.set(record.token_id, token)

    def replay_remove(self, record: RemoveDelegationTokenRecord) -> None:
        self.remove(record.token_id)
