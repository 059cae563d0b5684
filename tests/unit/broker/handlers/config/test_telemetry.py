"""Telemetry without a receiver: clients learn what to push, and what they push is checked and dropped."""

from typing import Any

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.broker.request.client_session import ClientSession, ClientSoftware
from ottla.broker.request.telemetry import client_metrics
from ottla.broker.request.telemetry.client_subscription import Subscription
from ottla.metadata.image.config import ResourceType
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from ottla.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from ottla.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.push_telemetry import PushTelemetryRequest
from tests.unit.broker.small_broker import SmallBroker, StillConnection
from tests.unit.metadata.cluster import uuid_of

CLIENT = uuid_of(1)


def named(software: str) -> ClientSession:
    """The session of a client that has said what it is."""
    session = ClientSession()
    session.software = ClientSoftware(software, "4.3")
    return session


def subscribe(broker: SmallBroker, name: str, **configs: str | None) -> None:
    changes = [
        AlterableConfig(name=key.replace("_", "."), config_operation=1 if value is None else 0, value=value)
        for key, value in configs.items()
    ]
    resource = AlterConfigsResource(resource_type=ResourceType.CLIENT_METRICS, resource_name=name, configs=changes)
    answer = broker.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    assert answer.responses[0].error_code == 0, answer


def get(broker: SmallBroker, client: Uuid = CLIENT, connection: StillConnection | None = None) -> Any:
    return broker.ask(GetTelemetrySubscriptionsRequest(client_instance_id=client), 0, connection)


def push(broker: SmallBroker, client: Uuid = CLIENT, **values: Any) -> int:
    answer = broker.ask(PushTelemetryRequest(client_instance_id=client, **values), 0)
    return int(answer.error_code)


def test_without_subscriptions_nothing_is_wanted() -> None:
    answer = get(SmallBroker())
    assert (answer.error_code, answer.client_instance_id, answer.requested_metrics) == (0, CLIENT, [])
    assert (answer.push_interval_ms, answer.telemetry_max_bytes, answer.delta_temporality) == (300_000, 1_048_576, True)
    assert answer.accepted_compression_types == [4, 3, 1, 2]


def test_a_client_without_an_id_gets_one() -> None:
    broker = SmallBroker()
    first, second = (get(broker, ZERO_UUID).client_instance_id for _ in range(2))
    assert any(first)
    assert first != second


def test_what_is_wanted_of_a_client() -> None:
    broker = SmallBroker()
    subscribe(broker, "one", metrics="b.,a.", interval_ms="60000")
    subscribe(broker, "two", metrics="c.", match="client_id=app-.*,client_source_address=10\\..*")
    subscribe(broker, "other", metrics="d.", interval_ms="100", match="client_id=other")
    subscribe(broker, "java", metrics="e.", match="client_software_name=java")
    answer = get(broker)
    assert (answer.requested_metrics, answer.push_interval_ms) == (["a.", "b.", "c."], 60_000)
    java = StillConnection(session=named("java"))
    assert get(broker, uuid_of(2), java).requested_metrics == ["a.", "b.", "c.", "e."]
    subscribe(broker, "all", metrics="*")
    assert get(broker, uuid_of(3)).requested_metrics == ["*"]


def test_a_client_is_known_by_what_it_called_itself() -> None:
    broker = SmallBroker()
    subscribe(broker, "java", metrics="e.", match="client_software_name=apache-kafka-java")
    client = StillConnection(session=ClientSession())
    hello = ApiVersionsRequest(client_software_name="apache-kafka-java", client_software_version="4.3.1")
    assert broker.ask(hello, 3, client).error_code == 0
    assert get(broker, connection=client).requested_metrics == ["e."]


def test_no_pattern_keeps_the_broker_busy() -> None:
    broker = SmallBroker()
    subscribe(broker, "hostile", metrics="a.", match="client_software_name=(a+)+b")
    subscribe(broker, "large", metrics="b.", match="client_software_name=((a?){90}){90}x")
    subscribe(broker, "harmless", metrics="c.", match="client_software_name=a+")
    client = StillConnection(session=named("a" * 30_000))
    assert get(broker, connection=client).requested_metrics == ["c."]


@pytest.mark.parametrize("pattern", ["(?=a)a", "(a)\\1", "a++"])
def test_patterns_that_need_backtracking_are_refused(pattern: str) -> None:
    change = AlterableConfig(name="match", config_operation=0, value=f"client_id={pattern}")
    resource = AlterConfigsResource(
        resource_type=ResourceType.CLIENT_METRICS, resource_name="backtracking", configs=[change]
    )
    (refused,) = SmallBroker().ask(IncrementalAlterConfigsRequest(resources=[resource]), 1).responses
    assert (refused.error_code, refused.error_message) == (
        40,
        f"Illegal client matching pattern: client_id={pattern}",
    )


def test_a_changed_subscription_is_told_at_once() -> None:
    broker = SmallBroker()
    first = get(broker).subscription_id
    assert get(broker).error_code == 89
    subscribe(broker, "one", metrics="a.")
    answer = get(broker)
    assert (answer.error_code, answer.requested_metrics) == (0, ["a."])
    assert answer.subscription_id != first
    subscribe(broker, "one", metrics=None)
    assert get(broker).subscription_id == first


def test_asking_again_waits_for_the_interval() -> None:
    broker = SmallBroker()
    assert get(broker).error_code == 0
    refused = get(broker)
    assert (refused.error_code, refused.client_instance_id) == (89, ZERO_UUID)
    broker.clock.ms += 300_000
    assert get(broker).error_code == 0


def test_a_client_that_reconnects_may_ask_at_once() -> None:
    broker = SmallBroker()
    connection = StillConnection()
    assert get(broker, connection=connection).error_code == 0
    connection.is_open = False
    assert get(broker).error_code == 0


def test_pushes() -> None:
    broker = SmallBroker()
    wanted = get(broker).subscription_id
    assert push(broker, subscription_id=wanted, metrics=b"anything") == 0
    assert push(broker, subscription_id=wanted) == 89
    broker.clock.ms += 300_000
    assert push(broker, subscription_id=wanted ^ 1) == 117
    assert get(broker).error_code == 0, "after UNKNOWN_SUBSCRIPTION_ID a client is to ask again"
    broker.clock.ms += 300_000
    assert push(broker, subscription_id=wanted, compression_type=9) == 76
    assert get(broker).error_code == 0, "and after UNSUPPORTED_COMPRESSION_TYPE too"
    broker.clock.ms += 300_000
    assert push(broker, subscription_id=wanted, metrics=bytes(1_048_577)) == 118


def test_reserved_ids_and_the_end() -> None:
    broker = SmallBroker()
    assert push(broker, ZERO_UUID) == 42
    assert push(broker, Uuid((1).to_bytes(16, "big"))) == 42
    wanted = get(broker).subscription_id
    assert push(broker, subscription_id=wanted) == 0
    assert push(broker, subscription_id=wanted, terminating=True) == 0, "the last one need not wait"
    assert push(broker, subscription_id=wanted) == 42


def test_clients_are_forgotten_when_they_leave() -> None:
    broker = SmallBroker()
    connections = [StillConnection(session=ClientSession()) for _ in range(10)]
    for number, connection in enumerate(connections):
        for client in (uuid_of(100 + number), uuid_of(200 + number)):
            assert get(broker, client, connection).error_code == 0
    assert len(broker.client_metrics) == 20
    for connection in connections[1:]:
        connection.is_open = False
        broker.pipeline.disconnected(connection)  # type: ignore[arg-type]
    assert len(broker.client_metrics) == 2
    assert get(broker, uuid_of(100), connections[0]).error_code == 89
    assert get(broker, uuid_of(101)).error_code == 0


def test_silent_clients_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = SmallBroker()
    subscribe(broker, "often", interval_ms="100")
    assert get(broker).error_code == 0
    wanted = get(broker, uuid_of(2)).subscription_id
    broker.clock.ms += client_metrics.SILENCE_MS_MIN
    assert push(broker, uuid_of(2), subscription_id=wanted) == 0
    monkeypatch.setattr(client_metrics, "CLIENTS_MAX", 3)
    for number in range(10):
        get(broker, uuid_of(100 + number))
    assert len(broker.client_metrics) == 3


@pytest.mark.parametrize("match", ["client_id=(?=x)x", "client_id=\\p{Alpha}+"])
def test_a_pattern_that_only_java_understands_matches_nobody(match: str) -> None:
    subscription = Subscription.of({"metrics": "a.", "match": match})
    assert not subscription.matches({"client_id": "x"})
