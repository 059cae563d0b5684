"""Decides who may ask for delegation tokens, and for whom (KIP-48, KIP-373).

A token stands for a client that proved its identity otherwise: a client that did not log in, or logged in with a
token, gets none. Brokers and controllers share this, since a controller's listener has clients of its own.
"""

from typing import Final, Protocol

from ottla.broker.security.rights import Rights
from ottla.net.connection import ANONYMOUS
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)

NO_TIME: Final = -1
_REQUESTER_SINCE: Final = 3
"""Older versions have no place for who asked."""


class Asking(Protocol):
    """The sender of a request."""

    @property
    def version(self) -> int:
        """The version that it came in."""

    @property
    def principal(self) -> str:
        """The sender's principal."""

    @property
    def principal_is_token(self) -> bool:
        """Whether that was proved by a token."""

    @property
    def rights(self) -> Rights:
        """The sender's rights."""


def may_ask(context: Asking) -> bool:
    """Whether the sender logged in, and not with a token. A user named ANONYMOUS counts as not logged in."""
    return context.principal != ANONYMOUS and not context.principal_is_token


def creation_refusal(context: Asking, request: CreateDelegationTokenRequest) -> CreateDelegationTokenResponse | None:
    """The refusal of a request for a token; None if the token may be made."""
    owner = owner_type, owner_name = _pair(context.principal)
    code = None if may_ask(context) else ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    if request.owner_principal_name:
        if request.owner_principal_type is None:
            code = ErrorCode.UNKNOWN_SERVER_ERROR
        else:
            owner = owner_type, owner_name = request.owner_principal_type, request.owner_principal_name
    if code is None and not _may_create(context, f"{owner_type}:{owner_name}"):
        code = ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    return None if code is None else _refused(context, code, owner)


def _may_create(context: Asking, owner: str) -> bool:
    """Whether the sender may create a token for the owner: for itself always."""
    return owner == context.principal or context.rights.may(AclOperation.CREATE_TOKENS, AclResourceType.USER, owner)


def _refused(context: Asking, code: ErrorCode, owner: tuple[str, str]) -> CreateDelegationTokenResponse:
    response = CreateDelegationTokenResponse(
        error_code=code,
        principal_type=owner[0],
        principal_name=owner[1],
        issue_timestamp_ms=NO_TIME,
        expiry_timestamp_ms=NO_TIME,
        max_timestamp_ms=NO_TIME,
    )
    if context.version >= _REQUESTER_SINCE:
        kind, name = _pair(context.principal)
        response.token_requester_principal_type, response.token_requester_principal_name = kind, name
    return response


def _pair(principal: str) -> tuple[str, str]:
    kind, _, name = principal.partition(":")
    return kind, name
