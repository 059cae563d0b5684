"""Client quotas: which entities may have which."""

import pytest

from ottla.metadata.image.client_quota import entity_of
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from tests.unit.metadata.cluster import Cluster

Entity = list[tuple[str, str | None]]


def entry(entity: Entity, *ops: tuple[str, float | None]) -> RequestEntryData:
    return RequestEntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in entity],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in ops],
    )


def alter(cluster: Cluster, *entries: RequestEntryData, validate_only: bool = False) -> list[tuple[int, str | None]]:
    request = AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)
    return [(result.error_code, result.error_message) for result in cluster.ask(request).entries]


def test_very_many_keys_take_no_longer_than_their_number() -> None:
    """Were each looked for among all others, this would take minutes."""
    ops = [(f"k{number}", None) for number in range(100_000)]
    assert alter(Cluster(), entry([("user", "alice")], *ops)) == [(0, None)]


def test_set_change_and_remove() -> None:
    cluster = Cluster()
    user: Entity = [("user", "alice"), ("client-id", None)]
    assert alter(cluster, entry(user, ("producer_byte_rate", 1024.0), ("request_percentage", 12.5))) == [(0, None)]
    assert dict(cluster.image.client_quotas[entity_of(user)]) == {
        "producer_byte_rate": 1024.0,
        "request_percentage": 12.5,
    }
    alter(
        cluster, entry(user, ("producer_byte_rate", None), ("request_percentage", None), ("consumer_byte_rate", None))
    )
    assert entity_of(user) not in cluster.image.client_quotas


def test_only_what_changes_is_written() -> None:
    cluster = Cluster()
    wanted = entry([("ip", "10.0.0.1")], ("connection_creation_rate", 7.0))
    request = AlterClientQuotasRequest(entries=[wanted])
    assert len(cluster.written_by(request)) == 1
    assert cluster.written_by(request) == []


def test_validate_only_writes_nothing() -> None:
    cluster = Cluster()
    assert alter(cluster, entry([("user", "a")], ("producer_byte_rate", 1.0)), validate_only=True) == [(0, None)]
    assert len(cluster.image.client_quotas) == 0


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (entry([]), "Invalid empty client quota entity"),
        (entry([("group", "g")]), "Unhandled client quota entity type: group"),
        (entry([("user", "")]), "Empty user not supported"),
        (entry([("user", "a"), ("user", "b")]), "Invalid client quota entity, duplicate entity entry user"),
        (
            entry([("ip", "10.0.0.1"), ("user", "a")]),
            "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId",
        ),
        (entry([("ip", "no/host")]), "no/host is not a valid IP or resolvable host."),
        (entry([("ip", "10.0.0.300")]), "10.0.0.300 is not a valid IP or resolvable host."),
        (entry([("user", "a")], ("nonsense", 1.0)), "Invalid configuration key nonsense"),
        (
            entry([("user", "a")], ("connection_creation_rate", 1.0)),
            "Invalid configuration key connection_creation_rate",
        ),
        (entry([("user", "a")], ("producer_byte_rate", -1.0)), "Quota producer_byte_rate must be greater than 0"),
        (entry([("user", "a")], ("producer_byte_rate", 1.5)), "producer_byte_rate cannot be a fractional value."),
        (
            entry([("ip", None)], ("connection_creation_rate", 1e12)),
            "Proposed value for connection_creation_rate is too large for an INT.",
        ),
        (
            entry([("user", "a")], ("producer_byte_rate", 1.0), ("producer_byte_rate", 2.0)),
            "Ignoring duplicate entity ClientQuotaEntity(entries={user=a})",
        ),
    ],
)
def test_refusals(wanted: RequestEntryData, message: str) -> None:
    assert alter(Cluster(), wanted) == [(ErrorCode.INVALID_REQUEST, message)]


def test_an_entity_named_twice() -> None:
    wanted = entry([("user", "a")], ("producer_byte_rate", 1.0))
    results = alter(Cluster(), wanted, wanted)
    assert results[1] == (ErrorCode.INVALID_REQUEST, "Ignoring duplicate entity ClientQuotaEntity(entries={user=a})")
