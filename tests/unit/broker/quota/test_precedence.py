"""Only the most specific quota applies, and says who shares it (as Apache Kafka 4.3 does)."""

import pytest
from immutables import Map

from ottla.broker.quota.precedence import Share, applied
from ottla.metadata.image.client_quota import QuotaEntity, entity_of

KEY = "producer_byte_rate"
PAIR, USER, CLIENT = Share("ann", "app"), Share("ann", ""), Share("", "app")
FORMS: list[tuple[QuotaEntity, Share]] = [
    (entity_of([("user", "ann"), ("client-id", "app")]), PAIR),
    (entity_of([("user", "ann"), ("client-id", None)]), PAIR),
    (entity_of([("user", "ann")]), USER),
    (entity_of([("user", None), ("client-id", "app")]), PAIR),
    (entity_of([("user", None), ("client-id", None)]), PAIR),
    (entity_of([("user", None)]), USER),
    (entity_of([("client-id", "app")]), CLIENT),
    (entity_of([("client-id", None)]), CLIENT),
]


@pytest.mark.parametrize("first", range(len(FORMS)))
def test_the_most_specific_that_is_stored_applies(first: int) -> None:
    stored = {entity: Map({KEY: float(place)}) for place, (entity, _) in enumerate(FORMS) if place >= first}
    found = applied(stored, KEY, "ann", "app")
    assert found is not None
    assert found == (float(first), FORMS[first][1])


def test_an_entity_that_has_other_quotas_only_does_not_count() -> None:
    stored = {FORMS[0][0]: Map(consumer_byte_rate=1.0), FORMS[7][0]: Map({KEY: 7.0})}
    found = applied(stored, KEY, "ann", "app")
    assert found is not None
    assert found.limit == 7.0


def test_others_are_free() -> None:
    stored = {FORMS[0][0]: Map({KEY: 1.0}), FORMS[2][0]: Map({KEY: 1.0}), FORMS[6][0]: Map({KEY: 1.0})}
    assert applied(stored, KEY, "bob", "tool") is None
