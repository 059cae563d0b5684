"""Delegation tokens: created, renewed, expired, and swept away when their time is up (KIP-48).

A token's password is an HMAC of its id under the cluster's secret, so only the id is in the log, and a request that
shows the HMAC is matched by those of the known ids (`token_index`).
"""

from typing import Final

from ottla.metadata.controller.context import Caller, ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.metadata.image.delegation_token import DelegationToken, token_hmac
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
    CreateDelegationTokenResponse,
)
from ottla.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from ottla.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.security import RemoveDelegationTokenRecord

EXPIRATIONS_PER_RUN_MAX: Final = 1_000
_USER_TYPE: Final = "User"
_TIMESTAMP_MAX: Final = (1 << 63) - 1
_REQUESTER_SINCE: Final = 3
"""Older versions of CreateDelegationToken have no place for who asked."""


def create_delegation_token(
    context: ControllerContext, request: CreateDelegationTokenRequest, caller: Caller
) -> ControllerResult[CreateDelegationTokenResponse]:
    """Makes a token for the caller, or for an owner that the caller may act for."""
    requester_type, _, requester_name = caller.principal.partition(":")
    owner_type, owner_name = requester_type, requester_name
    if request.owner_principal_name:
        owner_type, owner_name = request.owner_principal_type or "", request.owner_principal_name
    response = CreateDelegationTokenResponse(principal_type=owner_type, principal_name=owner_name)
    if caller.api_version >= _REQUESTER_SINCE:
        response.token_requester_principal_type = requester_type
        response.token_requester_principal_name = requester_name
    secret, refusal = _secret(context)
    if refusal is None and any(renewer.principal_type != _USER_TYPE for renewer in request.renewers):
        refusal = ErrorCode.INVALID_PRINCIPAL_TYPE
    if refusal is not None:
        response.error_code = refusal
        return ControllerResult(response)
    lifetime_ms = context.settings.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_timestamp = _after(context, lifetime_ms)
    token = DelegationToken(
        token_id=str(context.new_id()),
        owner=f"{owner_type}:{owner_name}",
        requester=caller.principal,
        renewers=tuple(f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers),
        issue_timestamp=context.now_ms,
        max_timestamp=max_timestamp,
        expiration_timestamp=min(max_timestamp, _after(context, context.settings.delegation_token_expiry_time_ms)),
    )
    response.issue_timestamp_ms = token.issue_timestamp
    response.expiry_timestamp_ms = token.expiration_timestamp
    response.max_timestamp_ms = token.max_timestamp
    response.token_id = token.token_id
    response.hmac = token_hmac(secret, token.token_id)
    return ControllerResult(response, [VersionedRecord(token.to_record(), 0)])


def renew_delegation_token(
    context: ControllerContext, request: RenewDelegationTokenRequest, caller: Caller
) -> ControllerResult[RenewDelegationTokenResponse]:
    """Lets a token live longer, though never past its maximum."""
    token, refusal = _find(context, bytes(request.hmac), caller)
    if token is not None and token.has_expired(context.now_ms):
        refusal = ErrorCode.DELEGATION_TOKEN_EXPIRED
    if token is None or refusal is not None:
        return ControllerResult(RenewDelegationTokenResponse(error_code=refusal or ErrorCode.NONE))
    period_ms = context.settings.delegation_token_expiry_time_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    expiry = min(token.max_timestamp, _after(context, period_ms))
    record = token._replace(expiration_timestamp=expiry).to_record()
    return ControllerResult(RenewDelegationTokenResponse(expiry_timestamp_ms=expiry), [VersionedRecord(record, 0)])


def expire_delegation_token(
    context: ControllerContext, request: ExpireDelegationTokenRequest, caller: Caller
) -> ControllerResult[ExpireDelegationTokenResponse]:
    """Ends a token at once (a negative period), or sets when it ends."""
    token, refusal = _find(context, bytes(request.hmac), caller)
    if token is None or refusal is not None:
        return ControllerResult(ExpireDelegationTokenResponse(error_code=refusal or ErrorCode.NONE))
    if request.expiry_time_period_ms < 0:
        response = ExpireDelegationTokenResponse(expiry_timestamp_ms=context.now_ms)
        return ControllerResult(response, [VersionedRecord(RemoveDelegationTokenRecord(token_id=token.token_id), 0)])
    if token.has_expired(context.now_ms):
        return ControllerResult(ExpireDelegationTokenResponse(error_code=ErrorCode.DELEGATION_TOKEN_EXPIRED))
    expiry = min(token.max_timestamp, _after(context, request.expiry_time_period_ms))
    record = token._replace(expiration_timestamp=expiry).to_record()
    return ControllerResult(ExpireDelegationTokenResponse(expiry_timestamp_ms=expiry), [VersionedRecord(record, 0)])


def sweep_expired_tokens(context: ControllerContext) -> ControllerResult[bool]:
    """Removes tokens whose time is up; the response tells whether there may be more."""
    expired = sorted(
        token_id for token_id, token in context.image.delegation_tokens.items() if token.has_expired(context.now_ms)
    )[:EXPIRATIONS_PER_RUN_MAX]
    records = [VersionedRecord(RemoveDelegationTokenRecord(token_id=token_id), 0) for token_id in expired]
    return ControllerResult(len(records) >= EXPIRATIONS_PER_RUN_MAX, records)


def _secret(context: ControllerContext) -> tuple[bytes, ErrorCode | None]:
    secret = context.settings.delegation_token_secret_key
    if secret is None:
        return b"", ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    if not context.version.supports_delegation_tokens:
        return b"", ErrorCode.UNSUPPORTED_VERSION
    return secret, None


def _find(context: ControllerContext, wanted: bytes, caller: Caller) -> tuple[DelegationToken | None, ErrorCode | None]:
    _, refusal = _secret(context)
    if refusal is not None:
        return None, refusal
    token_id = context.tokens.id_of(wanted)
    token = None if token_id is None else context.image.delegation_tokens.get(token_id)
    if token is None:
        return None, ErrorCode.DELEGATION_TOKEN_NOT_FOUND
    return token, None if token.is_managed_by(caller.principal) else ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH


def _after(context: ControllerContext, period_ms: int) -> int:
    return min(context.now_ms + period_ms, _TIMESTAMP_MAX)
