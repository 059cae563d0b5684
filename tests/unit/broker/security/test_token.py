"""Who may ask for delegation tokens, and which of them somebody sees."""

from typing import Any, NamedTuple

import pytest
from immutables import Map

from ottla.broker.controller_handlers import (
    create_delegation_token,
    describe_delegation_token,
    expire_delegation_token,
    renew_delegation_token,
)
from ottla.broker.security.rights import EVERY_RIGHT
from ottla.broker.security.token_description import describe_tokens
from ottla.broker.security.token_request import creation_refusal, may_ask
from ottla.metadata.image.delegation_token import DelegationToken, token_hmac
from ottla.protocol.acl import AclOperation, AclResourceType
from ottla.protocol.errors import (
    DelegationTokenAuthDisabledError,
    DelegationTokenRequestNotAllowedError,
    ErrorCode,
)
from ottla.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from ottla.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
    DescribeDelegationTokenResponse,
)
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.unit.broker.small_broker import SmallBroker, StillConnection

SECRET = "the cluster's"
FOR_BOB = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob")


class Only:
    """One right, and no other."""

    is_unlimited = False
    token = None

    def __init__(self, *allowed: object) -> None:
        self._allowed = allowed

    def may(self, *asked: object) -> bool:
        return asked == self._allowed

    def may_any(self, *asked: object) -> bool:
        return False

    sees = may


class Sender(NamedTuple):
    """What a request tells about who sent it."""

    principal: str = "User:alice"
    rights: Any = Only()
    version: int = 3
    principal_is_token: bool = False


def token(token_id: str, owner: str, requester: str, *renewers: str) -> DelegationToken:
    return DelegationToken(token_id, owner, requester, renewers, 1, 3, 2)


TOKENS = Map(
    {
        found.token_id: found
        for found in (
            token("own", "User:alice", "User:alice"),
            token("asked-for", "User:carol", "User:alice"),
            token("renewed", "User:carol", "User:carol", "User:alice"),
            token("other", "User:carol", "User:carol"),
        )
    }
)


def test_who_may_ask() -> None:
    assert may_ask(Sender())
    assert not may_ask(Sender(principal="User:ANONYMOUS"))
    assert not may_ask(Sender(principal_is_token=True))


def test_a_token_for_oneself_needs_no_right() -> None:
    assert creation_refusal(Sender(), CreateDelegationTokenRequest()) is None
    named = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="alice")
    assert creation_refusal(Sender(), named) is None


def test_a_token_for_somebody_else_needs_one() -> None:
    may = Only(AclOperation.CREATE_TOKENS, AclResourceType.USER, "User:bob")
    assert creation_refusal(Sender(rights=may), FOR_BOB) is None
    assert creation_refusal(Sender(rights=EVERY_RIGHT), FOR_BOB) is None
    refused = creation_refusal(Sender(), FOR_BOB)
    assert refused is not None
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert (refused.principal_name, refused.token_requester_principal_name) == ("bob", "alice")


@pytest.mark.parametrize("sender", [Sender(principal="User:ANONYMOUS"), Sender(principal_is_token=True)])
def test_controllers_refuse_the_same(sender: Sender) -> None:
    parts: Any = None  # not even looked at
    context: Any = sender
    refused = create_delegation_token.handle(parts, context, CreateDelegationTokenRequest())
    assert refused is not None
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
    with pytest.raises(DelegationTokenRequestNotAllowedError):
        renew_delegation_token.handle(parts, context, RenewDelegationTokenRequest(hmac=b"x"))
    with pytest.raises(DelegationTokenRequestNotAllowedError):
        expire_delegation_token.handle(parts, context, ExpireDelegationTokenRequest(hmac=b"x"))
    with pytest.raises(DelegationTokenRequestNotAllowedError):
        describe_tokens(context, DescribeDelegationTokenRequest(owners=None), TOKENS, SECRET)


def described(sender: Sender, *owners: str) -> DescribeDelegationTokenResponse:
    asked = [DescribeDelegationTokenOwner(principal_type="User", principal_name=name) for name in owners]
    return describe_tokens(sender, DescribeDelegationTokenRequest(owners=asked or None), TOKENS, SECRET)


@pytest.mark.parametrize(
    ("rights", "seen"),
    [
        (Only(), {"own", "asked-for", "renewed"}),
        (EVERY_RIGHT, set(TOKENS)),
        (Only(AclOperation.DESCRIBE, AclResourceType.DELEGATION_TOKEN, "other"), set(TOKENS)),
        (Only(AclOperation.DESCRIBE_TOKENS, AclResourceType.USER, "User:carol"), set(TOKENS)),
        (Only(AclOperation.DESCRIBE_TOKENS, AclResourceType.USER, "User:bob"), {"own", "asked-for", "renewed"}),
    ],
)
def test_who_sees_which(rights: Any, seen: set[str]) -> None:
    assert {found.token_id for found in described(Sender(rights=rights)).tokens} == seen


def test_only_of_some_owners() -> None:
    everything = Sender(rights=EVERY_RIGHT)
    assert {found.token_id for found in described(everything, "carol").tokens} == set(TOKENS) - {"own"}
    assert described(everything, "bob").tokens == []
    none = DescribeDelegationTokenRequest(owners=[])
    assert describe_tokens(everything, none, TOKENS, SECRET).tokens == []


def test_a_token_is_shown_whole() -> None:
    [found] = [one for one in described(Sender()).tokens if one.token_id == "renewed"]
    assert bytes(found.hmac) == token_hmac(SECRET.encode(), "renewed")
    assert (found.principal_name, found.token_requester_principal_name) == ("carol", "carol")
    assert [who.principal_name for who in found.renewers] == ["alice"]
    assert (found.issue_timestamp, found.expiry_timestamp, found.max_timestamp) == (1, 2, 3)
    assert described(Sender(version=2)).tokens[0].token_requester_principal_name == ""


@pytest.mark.parametrize("secret", [None, ""])
def test_none_without_a_secret(secret: str | None) -> None:
    with pytest.raises(DelegationTokenAuthDisabledError):
        describe_tokens(Sender(), DescribeDelegationTokenRequest(owners=None), TOKENS, secret)


def test_controllers_show_the_same() -> None:
    broker = SmallBroker(delegation_token_secret_key=SECRET)
    context: Any = Sender()
    parts: Any = broker.parts
    answer = describe_delegation_token.handle(parts, context, DescribeDelegationTokenRequest(owners=None))
    assert answer.tokens == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_broker_forwards_what_clients_who_logged_in_ask(version: int) -> None:
    broker = SmallBroker(delegation_token_secret_key=SECRET)
    alice = StillConnection(principal="User:alice")
    requests = [(CreateDelegationTokenRequest(max_lifetime_ms=5), version)]
    requests += [(RenewDelegationTokenRequest(hmac=b"x"), 2), (ExpireDelegationTokenRequest(hmac=b"x"), 2)]
    for request, number in requests:
        # The controller of this small cluster has no secret.
        assert broker.ask(request, number, alice).error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
    assert broker.channel.forwarded == [request for request, _ in requests]
    answer = broker.ask(DescribeDelegationTokenRequest(owners=None), version, alice)
    assert (answer.error_code, answer.tokens) == (0, [])
    by_token = StillConnection(principal="User:alice", principal_is_token=True)
    refused = broker.ask(CreateDelegationTokenRequest(), version, by_token)
    assert refused.error_code == ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
