"""The delegation tokens that a caller may see, with the fields to show (KIP-48, KIP-373).

Shown are those that the caller owns, asked for or may renew, and those that rights name: Describe on the token, or
DescribeTokens on its owner. Tokens whose time is up are there until the controller has swept them away.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.security.token_request import Asking, may_ask
from ottla.metadata.image.delegation_token import DelegationToken, token_hmac
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import DelegationTokenAuthDisabledError, DelegationTokenRequestNotAllowedError
from ottla.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)

if TYPE_CHECKING:
    from immutables import Map

_REQUESTER_SINCE: Final = 3


def describe_tokens(
    context: Asking, request: DescribeDelegationTokenRequest, tokens: "Map[str, DelegationToken]", secret: str | None
) -> DescribeDelegationTokenResponse:
    """The answer; raises what refuses the whole request."""
    if not may_ask(context):
        raise DelegationTokenRequestNotAllowedError
    if not secret:
        raise DelegationTokenAuthDisabledError
    asked = None
    if request.owners is not None:
        asked = {f"{owner.principal_type}:{owner.principal_name}" for owner in request.owners}
    found = [token for token in tokens.values() if _is_asked(token, asked) and _sees(context, token)]
    return DescribeDelegationTokenResponse(
        tokens=[_described(token, secret.encode(), context.version) for token in sorted(found)]
    )


def _is_asked(token: DelegationToken, asked: set[str] | None) -> bool:
    return asked is None or any(token.is_seen_by(principal) for principal in asked)


def _sees(context: Asking, token: DelegationToken) -> bool:
    rights = context.rights
    return (
        token.is_seen_by(context.principal)
        or rights.sees(AclOperation.DESCRIBE, AclResourceType.DELEGATION_TOKEN, token.token_id)
        or rights.sees(AclOperation.DESCRIBE_TOKENS, AclResourceType.USER, token.owner)
    )


def _described(token: DelegationToken, secret: bytes, version: int) -> DescribedDelegationToken:
    kind, _, name = token.owner.partition(":")
    described = DescribedDelegationToken(
        principal_type=kind,
        principal_name=name,
        issue_timestamp=token.issue_timestamp,
        expiry_timestamp=token.expiration_timestamp,
        max_timestamp=token.max_timestamp,
        token_id=token.token_id,
        hmac=token_hmac(secret, token.token_id),
        renewers=[_renewer(principal) for principal in token.renewers],
    )
    if version >= _REQUESTER_SINCE:
        kind, _, name = token.requester.partition(":")
        described.token_requester_principal_type, described.token_requester_principal_name = kind, name
    return described


def _renewer(principal: str) -> DescribedDelegationTokenRenewer:
    kind, _, name = principal.partition(":")
    return DescribedDelegationTokenRenewer(principal_type=kind, principal_name=name)
