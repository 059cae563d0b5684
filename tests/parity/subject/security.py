"""Security without any: ACLs with no authorizer, tokens and SASL on a plaintext port, telemetry without a receiver."""

from ottla.base.ids import Uuid
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.describe_acls import DescribeAclsRequest
from ottla.protocol.messages.describe_delegation_token import DescribeDelegationTokenRequest
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.protocol.messages.push_telemetry import PushTelemetryRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from ottla.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from ottla.protocol.messages.sasl_handshake import SaslHandshakeRequest
from tests.parity.talk import Talk

ENUMS = (
    (2, 3, 3, 3),
    (0, 3, 3, 3),
    (2, 0, 3, 3),
    (2, 3, 0, 3),
    (2, 3, 3, 0),
    (1, 1, 1, 1),
    (99, 3, 3, 3),
    (2, 99, 3, 3),
    (2, 3, 99, 3),
    (2, 3, 3, 99),
    (2, 2, 3, 3),
)


def run(talk: Talk) -> None:
    """All about what is not there."""
    for kind, pattern, operation, permission in ENUMS:
        name = f"kind {kind}, pattern {pattern}, operation {operation}, permission {permission}"
        _acls(talk, name, (kind, pattern, operation, permission))
    talk.ask("no creations", CreateAclsRequest(), 3)
    talk.ask("no filters", DeleteAclsRequest(), 3)
    talk.ask_all_versions("a token", CreateDelegationTokenRequest(max_lifetime_ms=1_000))
    for kind in (None, "", "User", "Group"):
        for name in (None, "", "bob"):
            half = CreateDelegationTokenRequest(
                max_lifetime_ms=1_000, owner_principal_type=kind, owner_principal_name=name
            )
            talk.ask(f"a token for {kind!r} {name!r}", half, 3)
    for kind, name in (("", ""), ("User", ""), ("", "bob"), ("Group", "bob"), ("User", "bob")):
        renewer = CreatableRenewers(principal_type=kind, principal_name=name)
        renewed = CreateDelegationTokenRequest(max_lifetime_ms=1_000, renewers=[renewer, renewer])
        talk.ask_all_versions(f"a token that {kind!r} {name!r} renews", renewed)
    talk.ask_all_versions("a token", RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1))
    talk.ask_all_versions("a token", ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1))
    talk.ask_all_versions("tokens", DescribeDelegationTokenRequest(owners=None))
    talk.ask_all_versions("on a plaintext port", SaslHandshakeRequest(mechanism="PLAIN"))
    talk.ask_all_versions("on a plaintext port", SaslAuthenticateRequest(auth_bytes=b"x"))
    talk.ask("a new client", GetTelemetrySubscriptionsRequest(), 0)
    known = Uuid(b"\x07" * 16)
    talk.ask("a known client", GetTelemetrySubscriptionsRequest(client_instance_id=known), 0)
    talk.ask("a push", PushTelemetryRequest(client_instance_id=known, subscription_id=5, metrics=b"x"), 0)
    talk.ask("a push of a new client", PushTelemetryRequest(subscription_id=5, metrics=b"x"), 0)


def _acls(talk: Talk, name: str, enums: tuple[int, int, int, int]) -> None:
    kind, pattern, operation, permission = enums
    creation = AclCreation(
        resource_type=kind,
        resource_name="t",
        resource_pattern_type=pattern,
        principal="User:a",
        host="*",
        operation=operation,
        permission_type=permission,
    )
    wanted = {
        "resource_type_filter": kind,
        "resource_name_filter": "t",
        "pattern_type_filter": pattern,
        "principal_filter": None,
        "host_filter": None,
        "operation": operation,
        "permission_type": permission,
    }
    for version in (1, 3):
        talk.ask(name, CreateAclsRequest(creations=[creation]), version)
        talk.ask(name, DeleteAclsRequest(filters=[DeleteAclsFilter(**wanted)]), version)
        talk.ask(name, DescribeAclsRequest(**wanted), version)
