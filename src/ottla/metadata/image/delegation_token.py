"""Delegation tokens by id. The secret that signs them is not in the log."""

from typing import NamedTuple

from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.delegation_token import DelegationTokenRecord, RemoveDelegationTokenRecord


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
