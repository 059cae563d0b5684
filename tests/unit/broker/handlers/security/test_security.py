"""SCRAM users, ACLs and tokens on a cluster without security."""

from typing import Any

import pytest

from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.describe_acls import DescribeAclsRequest
from ottla.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from ottla.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.unit.broker.small_broker import CLOSED, SmallBroker


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    upsertions = [
        ScramCredentialUpsertion(name=name, mechanism=kind, iterations=4096, salt=b"salt", salted_password=b"hidden")
        for name, kind in (("alice", 1), ("bob", 2))
    ]
    answer = made.ask(AlterUserScramCredentialsRequest(upsertions=upsertions), 0)
    assert [result.error_code for result in answer.results] == [0, 0]
    return made


def users(broker: SmallBroker, *names: str) -> list[Any]:
    asked = DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])
    results: list[Any] = broker.ask(asked, 0).results
    return results


def test_all_scram_users(broker: SmallBroker) -> None:
    for results in (users(broker), broker.ask(DescribeUserScramCredentialsRequest(users=None), 0).results):
        shown = [(r.user, r.error_code, [(i.mechanism, i.iterations) for i in r.credential_infos]) for r in results]
        assert shown == [("alice", 0, [(1, 4096)]), ("bob", 0, [(2, 4096)])]


def test_scram_users_that_are_not_there_or_named_twice(broker: SmallBroker) -> None:
    results = {result.user: result for result in users(broker, "bob", "bob", "carol", "alice")}
    assert {name: result.error_code for name, result in results.items()} == {"bob": 92, "carol": 91, "alice": 0}
    assert results["carol"].error_message == "Attempt to describe a user credential that does not exist: carol"
    assert results["bob"].credential_infos == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_acls_without_an_authorizer(broker: SmallBroker, version: int) -> None:
    answer = broker.ask(
        DescribeAclsRequest(resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1), version
    )
    assert (answer.error_code, answer.error_message) == (54, "No Authorizer is configured on the broker")
    assert answer.resources == []


@pytest.mark.parametrize("field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"])
def test_acl_filters_that_cannot_be_read(broker: SmallBroker, field: str) -> None:
    values = dict.fromkeys(("resource_type_filter", "pattern_type_filter", "operation", "permission_type"), 1)
    assert broker.ask(DescribeAclsRequest(**{**values, field: 0}), 3) == CLOSED
    assert broker.ask(DeleteAclsRequest(filters=[DeleteAclsFilter(**{**values, field: 0})]), 3) == CLOSED
    assert broker.channel.forwarded == broker.channel.forwarded[:1], "only the fixture's request was forwarded"


@pytest.mark.parametrize("field", ["resource_type", "resource_pattern_type", "operation", "permission_type"])
def test_acls_that_cannot_be_read(broker: SmallBroker, field: str) -> None:
    values: dict[str, Any] = dict.fromkeys(
        ("resource_type", "resource_pattern_type", "operation", "permission_type"), 3
    )
    readable = AclCreation(**values, resource_name="t", principal="User:a", host="*")
    unreadable = AclCreation(**{**values, field: 0}, resource_name="t", principal="User:a", host="*")
    assert broker.ask(CreateAclsRequest(creations=[readable, unreadable]), 3) == CLOSED


@pytest.mark.parametrize("version", [1, 2, 3])
def test_tokens_are_not_for_plaintext(broker: SmallBroker, version: int) -> None:
    answer = broker.ask(CreateDelegationTokenRequest(max_lifetime_ms=5), version)
    assert (answer.error_code, answer.principal_type, answer.principal_name) == (64, "User", "ANONYMOUS")
    assert (answer.issue_timestamp_ms, answer.expiry_timestamp_ms, answer.max_timestamp_ms) == (-1, -1, -1)
    assert broker.ask(DescribeDelegationTokenRequest(owners=None), version).error_code == 64
    if version < 3:
        for request in (RenewDelegationTokenRequest(hmac=b"x"), ExpireDelegationTokenRequest(hmac=b"x")):
            answer = broker.ask(request, version)
            assert (answer.error_code, answer.expiry_timestamp_ms) == (64, -1)


def test_a_token_for_somebody_else_names_both(broker: SmallBroker) -> None:
    answer = broker.ask(CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob"), 3)
    assert (answer.principal_name, answer.token_requester_principal_name) == ("bob", "ANONYMOUS")
