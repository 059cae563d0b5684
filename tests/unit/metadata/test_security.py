"""SCRAM credentials, ACLs and delegation tokens as the controller writes them."""

import hashlib
import hmac
from typing import Any

import pytest

from ottla.metadata.controller.context import Caller
from ottla.metadata.image.scram import ScramUser
from ottla.metadata.metadata_version import MetadataVersion
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.unit.metadata.cluster import Cluster

SHA_256, SHA_512 = 1, 2
DAY_MS = 24 * 3_600_000


def upsertion(name: str = "alice", mechanism: int = SHA_256, **changes: Any) -> ScramCredentialUpsertion:
    values = {"iterations": 4096, "salt": b"salt", "salted_password": b"secret", **changes}
    return ScramCredentialUpsertion(name=name, mechanism=mechanism, **values)


def alter(
    cluster: Cluster, *upsertions: ScramCredentialUpsertion, delete: Any = ()
) -> list[tuple[str, int, str | None]]:
    deletions = [ScramCredentialDeletion(name=name, mechanism=mechanism) for name, mechanism in delete]
    request = AlterUserScramCredentialsRequest(deletions=deletions, upsertions=list(upsertions))
    return [(result.user, result.error_code, result.error_message) for result in cluster.ask(request).results]


class TestScram:
    def test_keeps_what_checks_a_proof_and_not_the_password(self) -> None:
        cluster = Cluster()
        assert alter(cluster, upsertion()) == [("alice", 0, None)]
        credential = cluster.image.scram[ScramUser(SHA_256, "alice")]
        client_key = hmac.new(b"secret", b"Client Key", hashlib.sha256).digest()
        assert credential.stored_key == hashlib.sha256(client_key).digest()
        assert credential.server_key == hmac.new(b"secret", b"Server Key", hashlib.sha256).digest()
        assert (credential.salt, credential.iterations) == (b"salt", 4096)
        assert "secret" not in repr(credential)

    def test_what_kafka_makes_of_a_password(self) -> None:
        """Alice's credential in tests/fixtures/kafka-4.3.1-metadata: password `a`, 4096 iterations."""
        salt = b"9ra1eiztyjckzpnt49so4621f"
        salted = hashlib.pbkdf2_hmac("sha256", b"a", salt, 4096)
        cluster = Cluster()
        alter(cluster, upsertion(salt=salt, salted_password=salted))
        stored = cluster.image.scram[ScramUser(SHA_256, "alice")].stored_key
        assert stored.hex() == "e347094d7e378dd3e03a3858e7db49a333887d9f2db3252dbf4888786ba37bc5"

    def test_both_mechanisms_of_a_user_at_once(self) -> None:
        cluster = Cluster()
        assert alter(cluster, upsertion(), upsertion(mechanism=SHA_512)) == [("alice", 0, None)]
        assert len(cluster.image.scram) == 2

    def test_deletion(self) -> None:
        cluster = Cluster()
        alter(cluster, upsertion())
        assert alter(cluster, delete=[("alice", SHA_256)]) == [("alice", 0, None)]
        assert len(cluster.image.scram) == 0

    @pytest.mark.parametrize(
        ("wanted", "code", "message"),
        [
            (upsertion(""), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty"),
            (upsertion(mechanism=9), ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism"),
            (upsertion(iterations=4095), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations"),
            (upsertion(iterations=16385), ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations"),
        ],
    )
    def test_refusals(self, wanted: ScramCredentialUpsertion, code: int, message: str) -> None:
        assert alter(Cluster(), wanted) == [(wanted.name, code, message)]

    def test_the_same_credential_twice_is_refused(self) -> None:
        [(_, code, message)] = alter(Cluster(), upsertion(), upsertion())
        assert (code, message) == (
            ErrorCode.DUPLICATE_RESOURCE,
            "A user credential cannot be altered twice in the same request",
        )

    def test_deleting_what_is_not_there(self) -> None:
        [(_, code, message)] = alter(Cluster(), delete=[("alice", SHA_256)])
        assert (code, message) == (
            ErrorCode.RESOURCE_NOT_FOUND,
            "Attempt to delete a user credential that does not exist",
        )

    def test_needs_its_metadata_version(self) -> None:
        [(_, code, message)] = alter(Cluster(MetadataVersion.V3_5_IV1), upsertion())
        assert (code, message) == (
            ErrorCode.UNSUPPORTED_VERSION,
            "The current metadata.version does not support SCRAM",
        )


def creation(**changes: Any) -> AclCreation:
    values = {
        "resource_type": 2,
        "resource_name": "orders",
        "resource_pattern_type": 3,
        "principal": "User:alice",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
        **changes,
    }
    return AclCreation(**values)


def acl_filter(**changes: Any) -> DeleteAclsFilter:
    values = {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": 1,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
        **changes,
    }
    return DeleteAclsFilter(**values)


class TestAcls:
    def test_an_entry_is_created_once(self) -> None:
        cluster = Cluster()
        request = CreateAclsRequest(creations=[creation(), creation()])
        assert len(cluster.written_by(request)) == 1
        assert cluster.written_by(request) == []
        [acl] = cluster.image.acls.by_id.values()
        assert (acl.principal, acl.resource_name, acl.operation) == ("User:alice", "orders", 3)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"resource_type": 1}, "Invalid resourceType ANY"),
            ({"resource_type": 77}, "Invalid resourceType UNKNOWN"),
            ({"resource_pattern_type": 2}, "Invalid patternType MATCH"),
            ({"operation": 1}, "Invalid operation ANY"),
            ({"permission_type": 1}, "Invalid permissionType ANY"),
            ({"resource_name": ""}, "Invalid empty resource name"),
            ({"resource_type": 4}, "The only valid name for the CLUSTER resource is kafka-cluster"),
            (
                {"principal": "alice"},
                "Could not parse principal from `alice` (no colon is present separating the principal type from the "
                "principal name)",
            ),
        ],
    )
    def test_refusals(self, changes: dict[str, Any], message: str) -> None:
        [result] = Cluster().ask(CreateAclsRequest(creations=[creation(**changes)])).results
        assert (result.error_code, result.error_message) == (ErrorCode.INVALID_REQUEST, message)

    @pytest.mark.parametrize(
        ("changes", "deleted"),
        [
            ({}, {"orders", "ord", "*"}),
            ({"pattern_type_filter": 4}, {"ord"}),
            ({"pattern_type_filter": 3, "resource_name_filter": "orders"}, {"orders"}),
            ({"pattern_type_filter": 2, "resource_name_filter": "orders"}, {"orders", "ord", "*"}),
            ({"pattern_type_filter": 2, "resource_name_filter": "other"}, {"*"}),
            ({"resource_name_filter": "orders"}, {"orders"}),
            ({"principal_filter": "User:bob"}, set()),
            ({"operation": 4}, {"*"}),
            ({"host_filter": "10.0.0.1"}, set()),
            ({"permission_type": 2}, set()),
            ({"resource_type_filter": 3}, set()),
        ],
    )
    def test_filters(self, changes: dict[str, Any], deleted: set[str]) -> None:
        cluster = Cluster()
        created = [
            creation(),
            creation(resource_name="ord", resource_pattern_type=4),
            creation(resource_name="*", operation=4),
        ]
        cluster.ask(CreateAclsRequest(creations=created))
        [result] = cluster.ask(DeleteAclsRequest(filters=[acl_filter(**changes)])).filter_results
        assert {acl.resource_name for acl in result.matching_acls} == deleted
        assert len(cluster.image.acls.by_id) == 3 - len(deleted)

    def test_very_many_exact_filters_take_no_longer_than_their_number(self) -> None:
        """Were each compared with all entries, this would take minutes."""
        cluster = Cluster()
        names = [f"topic-{number}" for number in range(10_000)]
        cluster.ask(CreateAclsRequest(creations=[creation(resource_name=name) for name in names]))
        exact = {"resource_type_filter": 2, "pattern_type_filter": 3, "principal_filter": "User:alice"}
        exact |= {"host_filter": "*", "operation": 3, "permission_type": 3}
        filters = [acl_filter(**exact, resource_name_filter=name) for name in [*names, "nope"]]
        results = cluster.ask(DeleteAclsRequest(filters=filters)).filter_results
        assert [[acl.resource_name for acl in result.matching_acls] for result in results] == [
            *([n] for n in names),
            [],
        ]
        assert len(cluster.image.acls.by_id) == 0

    def test_unknown_filters_are_refused(self) -> None:
        filters = [acl_filter(resource_type_filter=0), acl_filter(operation=0)]
        results = Cluster().ask(DeleteAclsRequest(filters=filters)).filter_results
        assert [result.error_message for result in results] == ["Unknown patternFilter.", "Unknown entryFilter."]


ALICE = Caller(principal="User:alice")
BOB = Caller(principal="User:bob")


class TestDelegationTokens:
    def cluster(self, **settings: Any) -> Cluster:
        return Cluster(**{"delegation_token_secret_key": b"cluster secret", **settings})

    def create(self, cluster: Cluster, caller: Caller = ALICE, **values: Any) -> Any:
        return cluster.ask(CreateDelegationTokenRequest(max_lifetime_ms=-1, **values), caller)

    def test_a_token_of_the_caller(self) -> None:
        cluster = self.cluster()
        cluster.now_ms = 1_000
        response = self.create(cluster)
        assert (response.error_code, response.principal_name) == (0, "alice")
        assert (response.issue_timestamp_ms, response.expiry_timestamp_ms) == (1_000, 1_000 + DAY_MS)
        assert response.max_timestamp_ms == 1_000 + 7 * DAY_MS
        assert response.hmac == hmac.new(b"cluster secret", response.token_id.encode(), hashlib.sha512).digest()
        token = cluster.image.delegation_tokens[response.token_id]
        assert (token.owner, token.requester) == ("User:alice", "User:alice")

    def test_for_somebody_else(self) -> None:
        cluster = self.cluster()
        response = self.create(cluster, owner_principal_type="User", owner_principal_name="bob")
        assert cluster.image.delegation_tokens[response.token_id].owner == "User:bob"
        renewal = RenewDelegationTokenRequest(hmac=response.hmac, renew_period_ms=-1)
        codes = [cluster.ask(renewal, caller).error_code for caller in (ALICE, BOB)]
        assert codes == [ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH, 0], "it is bob's, whoever asked for it"

    def test_versions_without_a_place_for_who_asked(self) -> None:
        old, new = Caller(api_version=2, principal="User:alice"), Caller(api_version=3, principal="User:alice")
        names = [self.create(self.cluster(), caller).token_requester_principal_name for caller in (old, new)]
        assert names == ["", "alice"]

    def test_renewed_by_a_renewer_though_not_past_its_maximum(self) -> None:
        cluster = self.cluster(delegation_token_max_lifetime_ms=2 * DAY_MS)
        renewers = [CreatableRenewers(principal_type="User", principal_name="bob")]
        created = self.create(cluster, renewers=renewers)
        cluster.now_ms = DAY_MS
        request = RenewDelegationTokenRequest(hmac=created.hmac, renew_period_ms=5 * DAY_MS)
        assert cluster.ask(request, BOB).expiry_timestamp_ms == 2 * DAY_MS
        stranger = Caller(principal="User:eve")
        assert cluster.ask(request, stranger).error_code == ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
        cluster.now_ms = 3 * DAY_MS
        assert cluster.ask(request, BOB).error_code == ErrorCode.DELEGATION_TOKEN_EXPIRED

    def test_expired_at_once_or_later(self) -> None:
        cluster = self.cluster()
        created = self.create(cluster)
        later = ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=5)
        assert cluster.ask(later, ALICE).expiry_timestamp_ms == 5
        now = ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1)
        assert cluster.ask(now, ALICE).error_code == 0
        assert len(cluster.image.delegation_tokens) == 0
        assert cluster.ask(now, ALICE).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND

    def test_known_to_the_next_controller(self) -> None:
        cluster = self.cluster()
        created = self.create(cluster)
        cluster.controller.claim(2, cluster.loader.image, cluster.now_ms)
        request = RenewDelegationTokenRequest(hmac=created.hmac, renew_period_ms=-1)
        assert cluster.ask(request, ALICE).error_code == 0

    def test_found_without_computing_the_hmac_of_every_other(self) -> None:
        """Were they computed for every request, this would take minutes."""
        cluster = self.cluster()
        created = [self.create(cluster) for _ in range(3_000)]
        for token in created:
            request = RenewDelegationTokenRequest(hmac=token.hmac[::-1], renew_period_ms=-1)
            assert cluster.ask(request, ALICE).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND

    def test_swept_away_when_their_time_is_up(self) -> None:
        cluster = self.cluster()
        self.create(cluster)
        cluster.controller.tick(DAY_MS)
        assert len(cluster.image.delegation_tokens) == 1
        cluster.controller.tick(DAY_MS + 3_600_000)
        assert len(cluster.image.delegation_tokens) == 0

    def test_refusals(self) -> None:
        assert self.create(Cluster()).error_code == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
        old = self.cluster(version=MetadataVersion.V3_6_IV1)
        assert self.create(old).error_code == ErrorCode.UNSUPPORTED_VERSION
        renewers = [CreatableRenewers(principal_type="Group", principal_name="x")]
        assert self.create(self.cluster(), renewers=renewers).error_code == ErrorCode.INVALID_PRINCIPAL_TYPE
        unknown = RenewDelegationTokenRequest(hmac=b"?")
        assert self.cluster().ask(unknown, ALICE).error_code == ErrorCode.DELEGATION_TOKEN_NOT_FOUND
