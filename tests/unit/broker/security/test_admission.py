"""Requests that pass and that don't, through the pipeline, by rules that change while clients are connected."""

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.base.metric import MetricRegistry
from ottla.broker.request.api_table import API_ROWS, BROKER_SERVED
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.security.admission import Admission, Caller
from ottla.broker.security.audit import AuditLog
from ottla.broker.security.authorizer import Authorizer
from ottla.broker.security.plugin import AuthorizationRequest, PluginAuthorizer
from ottla.metadata.acl.decision import AclSettings
from ottla.protocol.acl import AclOperation, AclPermissionType, AclResourceType
from ottla.protocol.api_key import ApiKey
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from ottla.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from ottla.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.unit.broker.small_broker import SmallBroker, StillConnection

DENIED, UNKNOWN = ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
_READ, _TOPIC = AclOperation.READ, AclResourceType.TOPIC


class GuardedBroker(SmallBroker):
    """A broker with an authorizer; super users are the only ones who may do anything at first."""

    def __init__(self, audit: Path | None = None, plugin: Any = None) -> None:
        super().__init__(authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer")
        settings = AclSettings(super_users=frozenset({"User:admin"}))
        self.authorizer = Authorizer(settings, None if plugin is None else PluginAuthorizer(plugin))
        self.cluster.loader.add_listener(self.authorizer)
        self.audit = None if audit is None else AuditLog(str(audit), self.clock)
        self.admission = Admission(self.authorizer, self.audit)
        self.pipeline = Pipeline(self.parts, BROKER_SERVED, MetricRegistry(), lambda: 0.0, self.admission)

    def allow(self, principal: str, operation: AclOperation, topic: str, *, deny: bool = False) -> None:
        permission = AclPermissionType.DENY if deny else AclPermissionType.ALLOW
        creation = AclCreation(
            resource_type=_TOPIC,
            resource_name=topic,
            principal=principal,
            host="*",
            operation=operation,
            permission_type=permission,
        )
        [result] = self.cluster.ask(CreateAclsRequest(creations=[creation])).results
        assert result.error_code == 0

    def forget_everything(self) -> None:
        every = DeleteAclsFilter(
            resource_type_filter=1,
            resource_name_filter=None,
            pattern_type_filter=1,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        )
        self.cluster.ask(DeleteAclsRequest(filters=[every]))

    def error_of(self, topic: str, connection: StillConnection) -> int:
        """What Metadata says of a topic that is not there."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        [found] = self.ask(request, 9, connection).topics
        return int(found.error_code)


def connection(principal: str) -> StillConnection:
    return StillConnection(principal=principal)


@pytest.fixture
def broker() -> GuardedBroker:
    return GuardedBroker()


def test_whether_a_topic_exists_is_told_to_those_who_may_know(broker: GuardedBroker) -> None:
    alice, bob, admin = connection("User:alice"), connection("User:bob"), connection("User:admin")
    broker.allow("User:alice", AclOperation.READ, "orders")
    assert broker.error_of("orders", alice) == UNKNOWN
    assert broker.error_of("orders", bob) == DENIED
    assert broker.error_of("other", alice) == DENIED
    assert broker.error_of("other", admin) == UNKNOWN


def test_changes_count_from_the_next_request_on_the_same_connection(broker: GuardedBroker) -> None:
    alice = connection("User:alice")
    broker.pipeline.connected(alice)  # type: ignore[arg-type]
    assert broker.error_of("orders", alice) == DENIED
    broker.allow("User:alice", AclOperation.DESCRIBE, "orders")
    assert broker.error_of("orders", alice) == UNKNOWN
    broker.allow("User:*", AclOperation.ALL, "orders", deny=True)
    assert broker.error_of("orders", alice) == DENIED
    broker.forget_everything()
    assert broker.error_of("orders", alice) == DENIED


def test_a_connection_that_logs_in_has_the_rights_of_its_user(broker: GuardedBroker) -> None:
    client = connection("User:ANONYMOUS")
    broker.pipeline.connected(client)  # type: ignore[arg-type]
    assert broker.error_of("orders", client) == DENIED
    client.principal = "User:admin"
    assert broker.error_of("orders", client) == UNKNOWN


def test_a_right_on_the_cluster_is_checked_before_the_handler(broker: GuardedBroker) -> None:
    request = DescribeClientQuotasRequest()
    assert broker.ask(request, 1, connection("User:bob")).error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    assert broker.ask(request, 1, connection("User:admin")).error_code == ErrorCode.NONE


def test_an_operators_class_decides_first_and_may_leave_it_to_the_lists() -> None:
    class Office:
        def __init__(self) -> None:
            self.asked: list[AuthorizationRequest] = []
            self.is_open = True

        def authorize(self, request: AuthorizationRequest) -> bool | None:
            self.asked.append(request)
            if request.resource_name == "broken":
                raise ZeroDivisionError
            return self.is_open if request.principal == "User:clerk" else None

    office = Office()
    broker = GuardedBroker(plugin=office)
    clerk, alice = connection("User:clerk"), connection("User:alice")
    broker.allow("User:alice", AclOperation.READ, "orders")
    assert broker.error_of("orders", alice) == UNKNOWN
    assert broker.error_of("orders", clerk) == UNKNOWN
    assert office.asked[-1] == AuthorizationRequest("User:clerk", "10.0.0.7", "DESCRIBE", "TOPIC", "orders")
    office.is_open = False
    assert broker.error_of("orders", clerk) == DENIED
    assert broker.error_of("broken", alice) == DENIED


def test_the_audit_log_has_every_change_and_one_line_for_a_read(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    broker = GuardedBroker(path)
    broker.allow("User:alice", AclOperation.READ, "orders")
    caller = Caller("User:alice", "10.0.0.7")
    for _ in range(3):
        assert broker.admission.allows(caller, ApiKey.FETCH, (_READ, _TOPIC, "orders"))
        assert not broker.admission.allows(caller, ApiKey.DELETE_TOPICS, (AclOperation.DELETE, _TOPIC, "orders"))
    assert broker.audit is not None
    broker.audit.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["api"] for line in lines] == ["FETCH", *["DELETE_TOPICS"] * 3]
    assert lines[0] | {"time": ""} == {
        "time": "",
        "principal": "User:alice",
        "host": "10.0.0.7",
        "api": "FETCH",
        "operation": "READ",
        "resource_type": "TOPIC",
        "resource_name": "orders",
        "allowed": True,
        "reason": "an entry allows it",
        "rule": "ALLOW User:alice READ from * on LITERAL TOPIC orders",
    }
    assert (lines[1]["allowed"], lines[1]["rule"]) == (False, None)


def test_every_call_that_names_nothing_says_which_right_it_needs() -> None:
    """Calls that need none are those that come before log-in, about clients' own metrics, and tokens."""
    free = {api for api, row in API_ROWS.items() if not row.right.operations and not row.right.in_handler}
    assert free == {
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.API_VERSIONS,
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        ApiKey.PUSH_TELEMETRY,
        ApiKey.CREATE_DELEGATION_TOKEN,
        ApiKey.RENEW_DELEGATION_TOKEN,
        ApiKey.EXPIRE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
    }


def test_long_names_are_decided_and_not_kept() -> None:
    """A client may ask about thousands of groups, each with a name of 32 KB."""
    admission = Admission(Authorizer(AclSettings(super_users=frozenset({"User:admin"}))))
    for principal in ("User:admin", "User:alice"):
        caller = Caller(principal, "10.0.0.7")
        for name in ("app", "a" * 32_767):
            asked = (_READ, AclResourceType.GROUP, name)
            assert admission.allows(caller, ApiKey.FIND_COORDINATOR, asked) == (principal == "User:admin")
            assert admission.shows(caller, asked) == (principal == "User:admin")
        assert [name for _, _, name in caller.known] == ["app"]
