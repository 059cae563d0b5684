"""DescribeClientQuotas: filters over what AlterClientQuotas stored."""

from typing import Any

import pytest

from ottla.protocol.messages import alter_client_quotas as altering
from ottla.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest
from tests.unit.broker.small_broker import SmallBroker

EXACT, DEFAULT, ANY = range(3)
ALICE = (("user", "alice"),)
ALICES_APP = (("client-id", "app"), ("user", "alice"))
EVERYBODY = (("user", None),)
ADDRESS = (("ip", "127.0.0.1"),)


@pytest.fixture
def broker() -> SmallBroker:
    made = SmallBroker()
    for entity, key in (
        (ALICE, "producer_byte_rate"),
        (ALICES_APP, "consumer_byte_rate"),
        (EVERYBODY, "request_percentage"),
        (ADDRESS, "connection_creation_rate"),
    ):
        entry = altering.RequestEntryData(
            entity=[altering.EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
            ops=[altering.OpData(key=key, value=5.0)],
        )
        answer = made.ask(altering.AlterClientQuotasRequest(entries=[entry]), 1)
        assert answer.entries[0].error_code == 0, answer
    return made


def ask(broker: SmallBroker, *components: tuple[str, int, str | None], strict: bool = False) -> Any:
    given = [ComponentData(entity_type=type_, match_type=kind, match=match) for type_, kind, match in components]
    return broker.ask(DescribeClientQuotasRequest(components=given, strict=strict), 1)


def found(broker: SmallBroker, *components: tuple[str, int, str | None], strict: bool = False) -> list[Any]:
    answer = ask(broker, *components, strict=strict)
    assert (answer.error_code, answer.error_message) == (0, "")
    return [tuple((part.entity_type, part.entity_name) for part in entry.entity) for entry in answer.entries]


def test_filters(broker: SmallBroker) -> None:
    assert set(found(broker)) == {ALICE, ALICES_APP, EVERYBODY, ADDRESS}
    assert found(broker, strict=True) == []
    assert set(found(broker, ("user", EXACT, "alice"))) == {ALICE, ALICES_APP}
    assert found(broker, ("user", EXACT, "alice"), strict=True) == [ALICE]
    assert found(broker, ("user", DEFAULT, None)) == [EVERYBODY]
    assert set(found(broker, ("user", ANY, None), strict=True)) == {ALICE, EVERYBODY}
    assert found(broker, ("client-id", ANY, None), ("user", EXACT, "alice")) == [ALICES_APP]
    assert found(broker, ("ip", EXACT, "127.0.0.1")) == [ADDRESS]
    assert found(broker, ("user", EXACT, "nobody")) == []


def test_values(broker: SmallBroker) -> None:
    (entry,) = ask(broker, ("ip", ANY, None)).entries
    assert [(value.key, value.value) for value in entry.values] == [("connection_creation_rate", 5.0)]


def test_the_order_is_that_of_kafkas_hash_maps() -> None:
    broker = SmallBroker()
    keys = ["producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"]
    for count in (1, 2, 3, 4):
        for entity in ((("user", f"u{count}"), ("client-id", f"c{count}")), (("user", f"u{count}"),)):
            parts = [altering.EntityData(entity_type=type_, entity_name=name) for type_, name in entity]
            ops = [altering.OpData(key=key, value=1.0) for key in keys[:count]]
            request = altering.AlterClientQuotasRequest(entries=[altering.RequestEntryData(entity=parts, ops=ops)])
            (entry,) = broker.ask(request, 1).entries
            assert [part.entity_type for part in entry.entity] == sorted(type_ for type_, _ in entity)
    seen = {
        tuple(part.entity_name for part in entry.entity): [value.key for value in entry.values]
        for entry in ask(broker).entries
    }
    # As Apache Kafka 4.3.1 was seen to answer.
    walked = [("u1",), ("c1", "u1"), ("u3",), ("u2",), ("u4",), ("c4", "u4"), ("c3", "u3"), ("c2", "u2")]
    assert list(seen) == walked
    assert seen["u2",] == ["consumer_byte_rate", "producer_byte_rate"]
    assert seen["u3",] == ["consumer_byte_rate", "request_percentage", "producer_byte_rate"]
    assert seen["u4",] == [keys[0], keys[1], keys[3], keys[2]]


@pytest.mark.parametrize(
    ("components", "code", "message"),
    [
        ([("", ANY, None)], 42, "Invalid empty entity type."),
        ([("group", ANY, None)], 35, "Unsupported entity type group"),
        (
            [("user", ANY, None), ("user", ANY, None)],
            42,
            "Entity type user cannot appear more than once in the filter.",
        ),
        ([("user", 9, None)], 42, "Unknown match type 9"),
        ([("user", EXACT, None)], 42, "Request specified MATCH_TYPE_EXACT, but set match string to null."),
        ([("user", DEFAULT, "x")], 42, "Request specified MATCH_TYPE_DEFAULT, but also specified a match string."),
        ([("user", ANY, "x")], 42, "Request specified MATCH_TYPE_SPECIFIED, but also specified a match string."),
        (
            [("ip", ANY, None), ("user", ANY, None)],
            42,
            "Invalid entity filter component combination. IP filter component should not be used with user or clientId "
            "filter component.",
        ),
    ],
)
def test_filters_that_make_no_sense(broker: SmallBroker, components: list[Any], code: int, message: str) -> None:
    answer = ask(broker, *components)
    assert (answer.error_code, answer.error_message, answer.entries) == (code, message, None)
