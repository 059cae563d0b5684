"""The instances' messages through the group: their identities, and the primary. Pure.

The JSON is Confluent's, so that their instances and ours elect one primary together.
"""

import enum
import json
from collections.abc import Mapping
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen

_VERSION: Final = 1


class InvalidIdentityError(OttlaError):
    """Bytes of another member that can't be understood."""


@frozen
class Identity:
    """One instance."""

    host: str
    port: int
    is_eligible: bool = True
    scheme: str = "http"

    @property
    def url(self) -> str:
        """The address of the instance."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def to_json(self) -> dict[str, object]:
        """Confluent's fields."""
        return {
            "version": _VERSION,
            "host": self.host,
            "port": self.port,
            "master_eligibility": self.is_eligible,
            "scheme": self.scheme,
            "leader": False,
        }


class AssignmentError(enum.IntEnum):
    """Whether the group could agree on a primary."""

    NONE = 0
    DUPLICATE_URLS = 1


@frozen
class Assignment:
    """The group leader's message to every member."""

    error: AssignmentError
    primary_id: str | None = None
    primary: Identity | None = None


def assign(members: Mapping[str, Identity]) -> Assignment:
    """The eligible member with the smallest URL; None if two have the same URL.

    >>> assign({"m1": Identity("b", 1), "m2": Identity("a", 1)}).primary_id
    'm2'
    """
    urls = [member.url for member in members.values()]
    if len(set(urls)) < len(urls):
        return Assignment(AssignmentError.DUPLICATE_URLS)
    eligible = {member.url: name for name, member in members.items() if member.is_eligible}
    if not eligible:
        return Assignment(AssignmentError.NONE)
    chosen = eligible[min(eligible)]
    return Assignment(AssignmentError.NONE, chosen, members[chosen])


def encode_identity(identity: Identity) -> bytes:
    """A member's metadata."""
    return _encode(identity.to_json())


def decode_identity(data: bytes) -> Identity:
    """The member that a metadata describes."""
    return _identity(_decode(data))


def encode_assignment(assignment: Assignment) -> bytes:
    """Writes the message to a member."""
    identity = None if assignment.primary is None else assignment.primary.to_json()
    return _encode(
        {
            "version": _VERSION,
            "error": int(assignment.error),
            "master": assignment.primary_id,
            "master_identity": identity,
        }
    )


def decode_assignment(data: bytes) -> Assignment:
    """Reads the leader's message."""
    fields = _decode(data)
    identity = fields.get("master_identity")
    error = AssignmentError.NONE if fields.get("error") == 0 else AssignmentError.DUPLICATE_URLS
    primary_id = fields.get("master")
    return Assignment(
        error,
        primary_id if isinstance(primary_id, str) else None,
        _identity(identity) if isinstance(identity, dict) else None,
    )


def _identity(fields: Mapping[str, object]) -> Identity:
    host, port = fields.get("host"), fields.get("port")
    if not isinstance(host, str) or not isinstance(port, int):
        raise InvalidIdentityError("a member of the group has no host and port")
    return Identity(host, port, bool(fields.get("master_eligibility")), str(fields.get("scheme") or "http"))


def _encode(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _decode(data: bytes) -> dict[str, object]:
    try:
        fields = json.loads(data)
    except ValueError as error:
        raise InvalidIdentityError(f"a member of the group sent no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InvalidIdentityError("a member of the group sent no JSON object")
    return fields
