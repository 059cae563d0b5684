"""Delegation tokens: issued, renewed, ended, listed (KIP-48)."""

from collections.abc import Iterable

from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.value.token import DelegationToken, KafkaPrincipal, TokenInformation
from ottla.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest, RenewDelegationTokenResponse


class TokenOperations(AdminOperations):
    """Operations on delegation tokens."""

    async def create_delegation_token(
        self,
        *,
        owner: KafkaPrincipal | None = None,
        renewers: Iterable[KafkaPrincipal] = (),
        max_lifetime_ms: int = -1,
    ) -> DelegationToken:
        """Issues a token for the caller, or for another owner whom the caller may act for."""
        helpers = tuple(renewers)
        request = CreateDelegationTokenRequest(
            owner_principal_type=None if owner is None else owner.type,
            owner_principal_name=None if owner is None else owner.name,
            renewers=[CreatableRenewers(principal_type=who.type, principal_name=who.name) for who in helpers],
            max_lifetime_ms=max_lifetime_ms,
        )
        found = await self._channel.ask(CONTROLLER, request, CreateDelegationTokenResponse)
        information = TokenInformation(
            token_id=found.token_id,
            owner=KafkaPrincipal(found.principal_type, found.principal_name),
            requester=KafkaPrincipal(found.token_requester_principal_type, found.token_requester_principal_name),
            renewers=helpers,
            issue_timestamp=found.issue_timestamp_ms,
            expiry_timestamp=found.expiry_timestamp_ms,
            max_timestamp=found.max_timestamp_ms,
        )
        return DelegationToken(information, bytes(found.hmac))

    async def renew_delegation_token(self, hmac: bytes, *, period_ms: int = -1) -> int:
        """Extends a token's life; when it expires now."""
        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=period_ms)
        return (await self._channel.ask(CONTROLLER, request, RenewDelegationTokenResponse)).expiry_timestamp_ms

    async def expire_delegation_token(self, hmac: bytes, *, period_ms: int = -1) -> int:
        """Shortens a token's life, or ends it at once; when it expires now."""
        request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=period_ms)
        return (await self._channel.ask(CONTROLLER, request, ExpireDelegationTokenResponse)).expiry_timestamp_ms

    async def describe_delegation_tokens(self, owners: Iterable[KafkaPrincipal] | None = None) -> list[DelegationToken]:
        """The tokens of some owners, or of all, that the caller may see."""
        asked = None
        if owners is not None:
            asked = [DescribeDelegationTokenOwner(principal_type=who.type, principal_name=who.name) for who in owners]
        request = DescribeDelegationTokenRequest(owners=asked)
        response = await self._channel.ask(ANY_NODE, request, DescribeDelegationTokenResponse)
        return list(map(_token, response.tokens))


def _token(found: DescribedDelegationToken) -> DelegationToken:
    information = TokenInformation(
        token_id=found.token_id,
        owner=KafkaPrincipal(found.principal_type, found.principal_name),
        requester=KafkaPrincipal(found.token_requester_principal_type, found.token_requester_principal_name),
        renewers=tuple(KafkaPrincipal(who.principal_type, who.principal_name) for who in found.renewers),
        issue_timestamp=found.issue_timestamp,
        expiry_timestamp=found.expiry_timestamp,
        max_timestamp=found.max_timestamp,
    )
    return DelegationToken(information, bytes(found.hmac))
