"""Users, quotas, ACLs and tokens on a cluster without security, and telemetry without a receiver."""

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.protocol.messages import alter_client_quotas as quotas
from ottla.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.create_delegation_token import CreatableRenewers, CreateDelegationTokenRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.describe_acls import DescribeAclsRequest
from ottla.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from ottla.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from ottla.protocol.messages.describe_user_scram_credentials import DescribeUserScramCredentialsRequest, UserName
from ottla.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from ottla.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.protocol.messages.push_telemetry import PushTelemetryRequest
from ottla.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from tests.integration.broker.parity.step import read, write

SOME_ID = Uuid.parse("zzzzzzzzzzzzzzzzzzzzzw")
ONE_ID = Uuid((1).to_bytes(16, "big"))


def _acl(**values: int | str) -> CreateAclsRequest:
    fields = {"resource_type": 2, "resource_name": "t", "resource_pattern_type": 3, "principal": "User:a", "host": "*"}
    return CreateAclsRequest(creations=[AclCreation(**{**fields, "operation": 3, "permission_type": 3, **values})])


def _acl_filter(**values: int | str | None) -> DescribeAclsRequest:
    fields = {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1}
    return DescribeAclsRequest(**{**fields, **values})


def _acl_deletion(**values: int | str | None) -> DeleteAclsRequest:
    fields = {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1}
    return DeleteAclsRequest(filters=[DeleteAclsFilter(**{**fields, **values})])


ACLS = [
    read("describe acls", _acl_filter()),
    read("describe acls of type 0", _acl_filter(resource_type_filter=0), (1, 3)),
    read("describe acls of type 99", _acl_filter(resource_type_filter=99), (1, 3)),
    read("describe acls with operation 0", _acl_filter(operation=0), (3,)),
    read("describe acls with permission 0", _acl_filter(permission_type=0), (3,)),
    read("describe acls with pattern 0", _acl_filter(pattern_type_filter=0), (1, 3)),
    read("describe acls with pattern 99", _acl_filter(pattern_type_filter=99), (3,)),
    write("create acls", _acl(), (1, 2, 3)),
    write("create acls of type 0", _acl(resource_type=0), (1, 3)),
    write("create acls of type 99", _acl(resource_type=99), (3,)),
    write("create acls of type any", _acl(resource_type=1), (3,)),
    write("create acls with pattern any", _acl(resource_pattern_type=1), (1, 3)),
    write("create acls with pattern match", _acl(resource_pattern_type=2), (3,)),
    write("create acls with operation 0", _acl(operation=0), (3,)),
    write("create acls with operation 99", _acl(operation=99), (3,)),
    write("create acls with permission 99", _acl(permission_type=99), (3,)),
    write("create no acls", CreateAclsRequest(), (1, 3)),
    write("create two acls", CreateAclsRequest(creations=_acl().creations * 2), (3,)),
    write("delete acls", _acl_deletion(), (1, 2, 3)),
    write("delete acls of type 0", _acl_deletion(resource_type_filter=0), (1, 3)),
    write("delete acls of type 99", _acl_deletion(resource_type_filter=99), (3,)),
    write("delete acls with operation 99", _acl_deletion(operation=99), (3,)),
    write("delete acls with pattern 99", _acl_deletion(pattern_type_filter=99), (3,)),
    write("delete acls with pattern 0", _acl_deletion(pattern_type_filter=0), (1, 3)),
    write("delete no acls", DeleteAclsRequest(), (1, 3)),
]

TOKENS = [
    write("create token", CreateDelegationTokenRequest(max_lifetime_ms=1000), (1, 2, 3)),
    write(
        "create token for somebody",
        CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob", max_lifetime_ms=-1),
        (3,),
    ),
    write(
        "create token with a renewer",
        CreateDelegationTokenRequest(renewers=[CreatableRenewers(principal_type="Group", principal_name="g")]),
        (3,),
    ),
    write("renew token", RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=1)),
    write("expire token", ExpireDelegationTokenRequest(hmac=b"x", expiry_time_period_ms=1)),
    read("describe tokens", DescribeDelegationTokenRequest(owners=None)),
    read("describe tokens of nobody", DescribeDelegationTokenRequest(owners=[])),
    read(
        "describe tokens of bob",
        DescribeDelegationTokenRequest(
            owners=[DescribeDelegationTokenOwner(principal_type="User", principal_name="bob")]
        ),
    ),
]


def _scram(name: str, mechanism: int = 1, iterations: int = 4096, salt: bytes = b"salt") -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name, mechanism=mechanism, iterations=iterations, salt=salt, salted_password=b"password"
    )


def _upsert(*upsertions: ScramCredentialUpsertion) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(upsertions=list(upsertions))


def _remove(*names: str, mechanism: int = 1) -> AlterUserScramCredentialsRequest:
    return AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name=name, mechanism=mechanism) for name in names]
    )


def _users(*names: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])


SCRAM = [
    read("describe no users", _users()),
    write("add users", _upsert(_scram("alice"), _scram("bob", 2, 8192)), (0,)),
    write("add a second mechanism", _upsert(_scram("alice", 2)), (0,)),
    write("add bad users", _upsert(_scram(""), _scram("few", 1, 100), _scram("many", 1, 10**6), _scram("x", 9)), (0,)),
    write("add one user twice", _upsert(_scram("carol"), _scram("carol", 1, 5000)), (0,)),
    write("add nobody", AlterUserScramCredentialsRequest(), (0,)),
    write("remove unknown users", _remove("nobody", ""), (0,)),
    write("remove with mechanism 0", _remove("alice", mechanism=0), (0,)),
    write(
        "remove and add",
        AlterUserScramCredentialsRequest(
            deletions=[ScramCredentialDeletion(name="bob", mechanism=2)], upsertions=[_scram("bob", 2)]
        ),
        (0,),
    ),
    read("describe all users", DescribeUserScramCredentialsRequest(users=None)),
    read("describe all users by an empty list", _users()),
    read("describe some users", _users("alice", "nobody", "")),
    read("describe one user twice", _users("alice", "alice", "bob")),
    write("remove user", _remove("bob", mechanism=2), (0,)),
    read("describe users after", DescribeUserScramCredentialsRequest(users=None)),
]

Entity = list[tuple[str, str | None]]


def _entry(entity: Entity, *ops: tuple[str, float | None]) -> quotas.RequestEntryData:
    return quotas.RequestEntryData(
        entity=[quotas.EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
        ops=[quotas.OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def _quota(*entries: quotas.RequestEntryData, validate_only: bool = False) -> quotas.AlterClientQuotasRequest:
    return quotas.AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)


def _matching(*components: tuple[str, int, str | None], strict: bool = False) -> DescribeClientQuotasRequest:
    data = [ComponentData(entity_type=type_, match_type=kind, match=match) for type_, kind, match in components]
    return DescribeClientQuotasRequest(components=data, strict=strict)


RATE = "producer_byte_rate"
USER, CLIENT, IP = "user", "client-id", "ip"
QUOTAS = [
    read("describe no quotas", _matching()),
    write("set quotas", lambda v, _: _quota(_entry([(USER, "alice")], (RATE, 1000.0 + v))), (0, 1)),
    write(
        "set several quotas",
        _quota(_entry([(USER, "alice"), (CLIENT, "c")], (RATE, 5.0), ("request_percentage", 50.5))),
        (1,),
    ),
    write(
        "set default quotas",
        _quota(_entry([(USER, None)], (RATE, 7.0)), _entry([(CLIENT, None)], ("consumer_byte_rate", 8.0))),
        (1,),
    ),
    write("set quotas of an address", _quota(_entry([(IP, "127.0.0.1")], ("connection_creation_rate", 10.0))), (1,)),
    write(
        "set quotas of a bad address",
        _quota(_entry([(IP, "not an address")], ("connection_creation_rate", 10.0))),
        (1,),
    ),
    write("set quotas on trial", _quota(_entry([(USER, "trial")], (RATE, 1.0)), validate_only=True), (1,)),
    write("set an unknown quota", _quota(_entry([(USER, "alice")], ("nonsense", 1.0))), (1,)),
    write("set a negative quota", _quota(_entry([(USER, "alice")], (RATE, -1.0))), (1,)),
    write("set a quota of half a byte", _quota(_entry([(USER, "alice")], (RATE, 1.5))), (1,)),
    write("set quotas of nobody", _quota(_entry([], (RATE, 1.0))), (1,)),
    write("set quotas of an unknown type", _quota(_entry([("group", "g")], (RATE, 1.0))), (1,)),
    write("set quotas of an empty name", _quota(_entry([(USER, "")], (RATE, 1.0))), (1,)),
    write("set quotas of a user and an address", _quota(_entry([(USER, "a"), (IP, "1.2.3.4")], (RATE, 1.0))), (1,)),
    write("set a user's connection rate", _quota(_entry([(USER, "a")], ("connection_creation_rate", 1.0))), (1,)),
    write(
        "set one quota twice",
        _quota(_entry([(USER, "a")], (RATE, 1.0), (RATE, 2.0))),
        (1,),
    ),
    write(
        "set one entity twice",
        _quota(_entry([(USER, "a")], (RATE, 1.0)), _entry([(USER, "a")], (RATE, 2.0))),
        (1,),
        deviation="each entry is answered: the first was done",
    ),
    write("set no quota", _quota(), (0, 1)),
    read("describe quotas", _matching()),
    read("describe quotas strictly", _matching(strict=True)),
    read("describe quotas of alice", _matching((USER, 0, "alice"))),
    read("describe quotas of alice strictly", _matching((USER, 0, "alice"), strict=True)),
    read("describe quotas of the default user", _matching((USER, 1, None))),
    read("describe quotas of any user", _matching((USER, 2, None))),
    read("describe quotas of any user strictly", _matching((USER, 2, None), strict=True)),
    read("describe quotas of both", _matching((USER, 0, "alice"), (CLIENT, 2, None))),
    read("describe quotas of an address", _matching((IP, 2, None))),
    read("describe quotas of an address and a user", _matching((IP, 2, None), (USER, 2, None))),
    read("describe quotas of an unknown type", _matching(("group", 2, None))),
    read("describe quotas of an empty type", _matching(("", 2, None))),
    read("describe quotas of one type twice", _matching((USER, 2, None), (USER, 0, "a"))),
    read("describe quotas with match type 9", _matching((USER, 9, None))),
    read("describe quotas of a null user", _matching((USER, 0, None))),
    read("describe quotas of a named default", _matching((USER, 1, "x"))),
    read("describe quotas of a named any", _matching((USER, 2, "x"))),
    write("remove quotas", _quota(_entry([(USER, "alice")], (RATE, None))), (1,)),
    write("remove unknown quotas", _quota(_entry([(USER, "nobody")], (RATE, None))), (1,)),
    read("describe quotas after", _matching((USER, 0, "alice"))),
    write(
        "set one type twice",
        _quota(_entry([(USER, "a"), (USER, "b")], (RATE, 1.0))),
        (1,),
        deviation="an entity that contradicts itself is refused, where the last word counted",
    ),
]

TELEMETRY = [
    write("subscriptions of a new client", GetTelemetrySubscriptionsRequest(), (0,)),
    write("subscriptions of a client", GetTelemetrySubscriptionsRequest(client_instance_id=SOME_ID), (0,)),
    write("subscriptions of a client too soon", GetTelemetrySubscriptionsRequest(client_instance_id=SOME_ID), (0,)),
    write("push without an id", PushTelemetryRequest(client_instance_id=ZERO_UUID), (0,)),
    write("push with a reserved id", PushTelemetryRequest(client_instance_id=ONE_ID), (0,)),
    write(
        "push with an unknown subscription", PushTelemetryRequest(client_instance_id=SOME_ID, subscription_id=1), (0,)
    ),
    write("subscriptions after that", GetTelemetrySubscriptionsRequest(client_instance_id=SOME_ID), (0,)),
    write(
        "push of an unknown client", PushTelemetryRequest(client_instance_id=Uuid(b"x" * 16), subscription_id=1), (0,)
    ),
    write("push again too soon", PushTelemetryRequest(client_instance_id=Uuid(b"x" * 16), subscription_id=1), (0,)),
    write(
        "push at the end",
        PushTelemetryRequest(client_instance_id=Uuid(b"x" * 16), subscription_id=1, terminating=True),
        (0,),
    ),
    write("push after the end", PushTelemetryRequest(client_instance_id=Uuid(b"x" * 16), subscription_id=1), (0,)),
]

STEPS = [*ACLS, *TOKENS, *SCRAM, *QUOTAS, *TELEMETRY]
