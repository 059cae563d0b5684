"""SCRAM credentials by mechanism and user: what a server keeps of a password."""

from typing import NamedTuple

from ottla.metadata.errors import MetadataError
from ottla.metadata.image.map_delta import MapDelta
from ottla.protocol.metadata_log.security import RemoveUserScramCredentialRecord, UserScramCredentialRecord


class ScramUser(NamedTuple):
    """The owner of a credential: a user has one for each mechanism."""

    mechanism: int
    name: str


class ScramCredential(NamedTuple):
    """A proof of a password without the password; never shown."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return "ScramCredential(***)"


class ScramDelta(MapDelta[ScramUser, ScramCredential]):
    """Changes to credentials."""

    __slots__ = ()

    def replay(self, record: UserScramCredentialRecord) -> None:
        credential = ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)
        self.set(ScramUser(record.mechanism, record.name), credential)

    def replay_remove(self, record: RemoveUserScramCredentialRecord) -> None:
        user = ScramUser(record.mechanism, record.name)
        if self.get(user) is None:
            raise MetadataError(f"removal of the SCRAM credential of {user}, which does not exist")
        self.remove(user)
