"""What is decided about associations, and that a reader of the log comes to the same."""

from typing import Any

import pytest

from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.association import Situation, associate, dissociate
from ottla.web.registry.decision.association_batch import Done, batch
from ottla.web.registry.decision.association_query import answer, parse_queries
from ottla.web.registry.decision.association_request import parse_resource_request
from ottla.web.registry.state.association import Lifecycle
from ottla.web.registry.state.mode import Mode
from tests.unit.web.registry.driven import Driven, avro

OWNED = {"schema": {"schema": avro("x")}}
OWN = ":.ns:orders-value"


class Associating(Driven):
    """A registry with associations; GUIDs count."""

    def situation(self) -> Situation:
        return Situation(self.rule, "", lambda: f"guid-{len(self.log)}")

    def associate(
        self, *wanted: dict[str, Any], resource: str = "id-1", create: bool = True, dry_run: bool = False
    ) -> list[str]:
        body = {"resourceName": "orders", "resourceNamespace": "ns", "resourceId": resource, "associations": [*wanted]}
        request = parse_resource_request(body, create=create, dry_run=dry_run)
        made = self.take(associate(self.state, self.situation(), request, dry_run=dry_run))
        return [association.key.subject for association, _ in made]

    def dissociate(self, *types: str, cascade: bool = False, dry_run: bool = False) -> None:
        self.take(dissociate(self.state, "id-1", types, cascade=cascade, dry_run=dry_run))

    def batch(self, *requests: dict[str, Any]) -> list[Done]:
        return self.take(batch(self.state, self.situation(), list(requests), dry_run=False))


@pytest.fixture
def registry() -> Associating:
    """A registry with one subject."""
    made = Associating()
    made.register("shared", avro("x"))
    return made


def weak(subject: str = "shared", **fields: Any) -> dict[str, Any]:
    return {"subject": subject, **fields}


def refusal(done: Done) -> int | None:
    return None if done.refusal is None else done.refusal.error_code


def test_a_topic_owns_the_subject_that_it_is_created_with(registry: Associating) -> None:
    assert registry.associate(OWNED) == [OWN]
    (found,) = registry.state.associations.of_subject(OWN)
    assert (found.lifecycle, found.is_frozen, found.resource_id) == (Lifecycle.STRONG, True, "id-1")
    assert registry.versions(OWN) == [1]
    assert registry.associate(OWNED) == []
    assert registry.replayed() == registry.state


def test_a_dry_run_decides_and_changes_nothing(registry: Associating) -> None:
    before = registry.state
    assert registry.associate(OWNED, dry_run=True) == []
    assert registry.associate(weak(), dry_run=True) == []
    with pytest.raises(HttpError) as refused:
        registry.associate(weak("nowhere"), dry_run=True)
    assert refused.value.error_code == 40907
    assert registry.state is before


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (weak("nowhere"), 40907),
        (weak(associationType="other"), 42212),
        (weak(frozen=True), 42212),
        (weak(lifecycle="STRONG"), 42212),
        (weak(lifecycle="SOME"), 42212),
        (weak(OWN), 42212),
        ({}, 42212),
        ({**OWNED, "lifecycle": "WEAK"}, 42212),
        ({**OWNED, "frozen": False}, 42212),
        ({"schema": {"schema": "{"}}, 42201),
    ],
)
def test_what_no_association_may_be_is_refused(registry: Associating, wanted: dict[str, Any], code: int) -> None:
    before = registry.state
    with pytest.raises(HttpError) as refused:
        registry.associate(wanted)
    assert refused.value.error_code == code
    assert registry.state is before


def test_one_resource_has_one_association_of_a_type_and_one_lifecycle(registry: Associating) -> None:
    registry.register("other", avro("y"))
    registry.associate(weak())
    for wanted, code in ((weak("other"), 40903), ({**OWNED, "associationType": "key"}, 42212)):
        with pytest.raises(HttpError) as refused:
            registry.associate(wanted)
        assert refused.value.error_code == code
    assert registry.associate(weak(associationType="key")) == ["shared"]


def test_a_subject_that_is_owned_is_neither_shared_nor_referred_to(registry: Associating) -> None:
    registry.associate(OWNED)
    reference = [{"name": "R", "subject": OWN, "version": 1}]
    with pytest.raises(HttpError) as refused:
        registry.register("referrer", '{"type":"array","items":"R"}', references=reference)
    assert refused.value.error_code == 42205
    with pytest.raises(HttpError) as refused:
        registry.associate({"subject": OWN, "associationType": "key"}, resource="id-2")
    assert refused.value.error_code == 40905


def test_an_update_neither_takes_nor_gives_away_a_subject(registry: Associating) -> None:
    assert registry.associate(weak(), create=False) == ["shared"]
    assert registry.associate({"lifecycle": "WEAK"}, create=False) == []
    for wanted in (weak("other"), {"lifecycle": "STRONG"}, {"lifecycle": "STRONG", "frozen": True}, OWNED):
        with pytest.raises(HttpError) as refused:
            registry.associate(wanted, create=False)
        assert refused.value.error_code == 42212


def test_a_subject_with_associations_keeps_a_version(registry: Associating) -> None:
    registry.associate(weak())
    with pytest.raises(HttpError) as refused:
        registry.delete("shared")
    assert refused.value.error_code == 40904
    with pytest.raises(HttpError) as refused:
        registry.delete_version("shared", 1)
    assert refused.value.error_code == 40907
    registry.dissociate()
    assert registry.delete("shared") == [1]
    assert registry.replayed() == registry.state


def test_what_is_owned_goes_only_with_its_subject(registry: Associating) -> None:
    registry.associate(OWNED)
    with pytest.raises(HttpError) as refused:
        registry.dissociate()
    assert refused.value.error_code == 40908
    registry.dissociate(cascade=True, dry_run=True)
    assert registry.versions(OWN) == [1]
    registry.dissociate("value", cascade=True)
    assert OWN not in registry.state.subjects
    assert not registry.state.associations.by_subject
    assert registry.replayed() == registry.state
    with pytest.raises(HttpError) as refused:
        registry.dissociate()
    assert refused.value.error_code == 40410


def test_modes_count(registry: Associating) -> None:
    registry.set_mode("shared", Mode.READONLY)
    with pytest.raises(HttpError) as refused:
        registry.associate(weak())
    assert refused.value.error_code == 42205


def test_each_request_of_a_batch_is_done_as_a_whole_or_not_at_all(registry: Associating) -> None:
    resource = {"resourceName": "orders", "resourceNamespace": "ns", "resourceId": "id-1"}
    good = {**resource, "associations": [{"opType": "CREATE", **OWNED}]}
    half = {
        **resource,
        "resourceId": "id-2",
        "associations": [
            {"opType": "CREATE", "subject": "shared", "associationType": "key"},
            {"opType": "UPSERT", "subject": "nowhere"},
        ],
    }
    gone = {**resource, "associations": [{"opType": "DELETE", "associationType": "value", "cascadeLifecycle": True}]}
    done = registry.batch(good, half, {**resource, "associations": [{"opType": "?"}]}, 5)  # type: ignore[arg-type]
    assert [refusal(each) for each in done] == [None, 40907, 422, 422]
    assert [association.key.subject for association, _ in done[0].made] == [OWN]
    assert not registry.state.associations.of_resource("id-2")
    assert registry.batch(gone)[0].made == ()
    assert OWN not in registry.state.subjects
    assert registry.replayed() == registry.state


def test_many_topics_are_asked_about_at_once(registry: Associating) -> None:
    registry.associate(weak(), weak(associationType="key"))
    registry.register("other", avro("y"))
    registry.associate(weak("other"), resource="id-2")
    found = registry.state.associations

    def asked(**fields: Any) -> list[str] | str:
        (query,) = parse_queries({"requests": [fields]})
        made = answer(found, query)
        return (
            made.message if isinstance(made, HttpError) else [each.key.association_type for each in made.associations]
        )

    assert asked(resourceId="id-1") == ["key", "value"]
    assert asked(resourceId="id-1", associationTypes=["key"]) == ["key"]
    assert (
        asked(resourceId="id-1", lifecycle="STRONG")
        == asked(resourceId="id-9")
        == asked(resourceId="id-1", resourceType="x")
        == []
    )
    assert asked(resourceName="orders", resourceNamespace="ns", associationTypes=["key"]) == ["key"]
    assert "same resourceName" in asked(resourceName="orders", resourceNamespace="ns")
    assert "either resourceId or resourceName" in asked()
    assert "resourceNamespace is required" in asked(resourceName="orders")
    bad: list[Any] = [{}, {"requests": []}, {"requests": [1]}, {"requests": [{"resourceId": 1}]}]
    for body in bad:
        with pytest.raises(HttpError):
            parse_queries(body)
