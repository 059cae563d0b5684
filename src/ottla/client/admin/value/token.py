"""Delegation tokens: log-ins that an authenticated client may hand on (KIP-48)."""

from typing import NamedTuple


class KafkaPrincipal(NamedTuple):
    """A principal: its type and its name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


class TokenInformation(NamedTuple):
    """A token without its secret; times in ms since 1970."""

    token_id: str
    owner: KafkaPrincipal
    requester: KafkaPrincipal
    renewers: tuple[KafkaPrincipal, ...]
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int


class DelegationToken(NamedTuple):
    """A token: for SCRAM the user is `information.token_id`, the password the base64 of `hmac`."""

    information: TokenInformation
    hmac: bytes

    def __repr__(self) -> str:
        return f"DelegationToken({self.information!r}, ***)"
