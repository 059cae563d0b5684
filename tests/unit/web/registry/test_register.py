"""What registering, looking up and deleting decide."""

import pytest

from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.delete import referring_ids
from ottla.web.registry.decision.lookup import look_up
from ottla.web.registry.state.mode import Mode
from tests.unit.web.registry.driven import Driven, avro, request


@pytest.fixture
def registry() -> Driven:
    """An empty registry; at the end a reader of its log must know the same."""
    return Driven()


def code(refused: pytest.ExceptionInfo[HttpError]) -> int:
    return refused.value.error_code


def test_ids_are_dense_and_one_per_content(registry: Driven) -> None:
    first = registry.register("a", avro("x"))
    same = registry.register("b", avro("x"))
    other = registry.register("b", avro("x", "y?"))
    again = registry.register("a", avro("x"))
    assert [(s.id, s.version) for s in (first, same, other, again)] == [(1, 1), (1, 1), (2, 2), (1, 1)]
    assert len(registry.log) == 3
    assert registry.replayed() == registry.state


def test_metadata_and_references_make_another_schema(registry: Driven) -> None:
    registry.register("a", avro("x"))
    tagged = registry.register("a", avro("x"), metadata={"properties": {"owner": "me"}})
    inherited = registry.register("a", avro("x", "y?"))
    assert (tagged.id, tagged.version, inherited.id) == (2, 2, 3)
    assert inherited.content.metadata == tagged.content.metadata
    assert registry.register("a", metadata={"properties": {"owner": "you"}}).content.text == inherited.content.text


def test_defaults_and_overrides_are_merged(registry: Driven) -> None:
    registry.configure(
        "a",
        defaultMetadata={"properties": {"team": "x", "owner": "nobody"}},
        overrideMetadata={"properties": {"region": "eu"}},
    )
    stored = registry.register("a", avro("x"), metadata={"properties": {"owner": "me", "region": "us"}})
    assert stored.content.metadata is not None
    assert stored.content.metadata.property_by_name == {"team": "x", "owner": "me", "region": "eu"}


def test_a_breaking_change_is_refused_with_its_reasons(registry: Driven) -> None:
    registry.register("a", avro("x"))
    with pytest.raises(HttpError) as refused:
        registry.register("a", avro("x", "y"))
    assert (refused.value.status, code(refused)) == (409, 40901)
    text = refused.value.message
    assert text.startswith(
        'Schema being registered is incompatible with an earlier schema for subject "a", details: [{'
    )
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in text
    assert "{oldSchemaVersion: 1}" in text
    assert text.endswith("{validateFields: 'false', compatibility: 'BACKWARD'}]")
    registry.configure("a", compatibility="none")
    assert registry.register("a", avro("x", "y")).version == 2


def test_a_compatibility_group_is_compared_within_itself(registry: Driven) -> None:
    registry.configure("a", compatibilityGroup="major")
    registry.register("a", avro("x"), metadata={"properties": {"major": "1"}})
    assert registry.register("a", avro("y"), metadata={"properties": {"major": "2"}}).version == 2
    with pytest.raises(HttpError) as refused:
        registry.register("a", avro("z"), metadata={"properties": {"major": "1"}})
    assert code(refused) == 40901


@pytest.mark.parametrize(
    ("text", "fields", "error_code"),
    [
        ("", {}, 42201),
        ("{", {}, 42201),
        (avro("x"), {"schemaType": "XML"}, 42201),
        (avro("x"), {"version": 2}, 42201),
        (avro("x"), {"id": 5}, 42205),
        (avro("x"), {"references": [{"name": "n", "subject": "none", "version": 1}]}, 42201),
    ],
)
def test_what_can_not_be_registered(registry: Driven, text: str, fields: dict[str, object], error_code: int) -> None:
    with pytest.raises(HttpError) as refused:
        registry.register("a", text, **fields)
    assert (refused.value.status, code(refused)) == (422, error_code)
    assert not registry.log


def test_a_soft_delete_keeps_the_id_and_not_the_version(registry: Driven) -> None:
    registry.register("a", avro("x"))
    assert registry.delete("a") == [1]
    assert not registry.versions("a")
    again = registry.register("a", avro("x"))
    assert (again.id, again.version) == (1, 2)
    assert sorted(registry.state.subject("a").versions) == [2]
    assert registry.replayed() == registry.state


def test_deleted_versions_do_not_count_for_compatibility(registry: Driven) -> None:
    registry.register("a", avro("x"))
    registry.delete("a")
    assert registry.register("a", avro("y")).version == 2
    assert sorted(registry.state.subject("a").versions) == [1, 2]


def test_after_a_permanent_delete_versions_begin_anew(registry: Driven) -> None:
    registry.register("a", avro("x"))
    registry.configure("a", compatibility="FULL")
    registry.set_mode("a", Mode.READWRITE)
    with pytest.raises(HttpError) as refused:
        registry.delete("a", permanent=True)
    assert code(refused) == 40405
    registry.delete("a")
    with pytest.raises(HttpError) as refused:
        registry.delete("a")
    assert code(refused) == 40404
    assert registry.delete("a", permanent=True) == [1]
    assert not registry.state.configs
    assert not registry.state.modes
    new = registry.register("a", avro("x"))
    assert (new.id, new.version) == (2, 1)


def test_single_versions_are_deleted_in_two_steps(registry: Driven) -> None:
    registry.register("a", avro("x"))
    registry.register("a", avro("x", "y?"))
    with pytest.raises(HttpError) as refused:
        registry.delete_version("a", 2, permanent=True)
    assert code(refused) == 40407
    assert registry.delete_version("a", -1) == 2
    with pytest.raises(HttpError) as refused:
        registry.delete_version("a", 2)
    assert code(refused) == 40406
    assert registry.delete_version("a", 2, permanent=True) == 2
    for subject, error_code in (("a", 40402), ("b", 40401)):
        with pytest.raises(HttpError) as refused:
            registry.delete_version(subject, 7)
        assert code(refused) == error_code


def test_what_others_refer_to_can_not_be_deleted(registry: Driven) -> None:
    registry.register("money", avro("amount", name="Money"))
    text = '{"type":"record","name":"Order","fields":[{"name":"price","type":"Money"}]}'
    order = registry.register("order", text, references=[{"name": "Money", "subject": "money", "version": -1}])
    assert order.content.references[0].version == 1
    assert referring_ids(registry.state, "money", 1, deleted=False) == [order.id]
    for delete in (lambda: registry.delete("money"), lambda: registry.delete_version("money", 1)):
        with pytest.raises(HttpError) as refused:
            delete()
        assert code(refused) == 42206
    registry.delete("order")
    assert registry.delete("money") == [1]
    with pytest.raises(HttpError) as refused:
        registry.delete("money", permanent=True)
    assert code(refused) == 42206
    registry.delete("order", permanent=True)
    assert registry.delete("money", permanent=True) == [1]
    assert registry.replayed() == registry.state
    assert not registry.state.referrers


def test_a_read_only_subject_can_be_read(registry: Driven) -> None:
    registry.register("a", avro("x"))
    registry.set_mode("a", Mode.READONLY)
    for change in (
        lambda: registry.register("a", avro("x", "y?")),
        lambda: registry.delete("a"),
        lambda: registry.delete_version("a", 1),
        lambda: registry.configure("a", compatibility="FULL"),
    ):
        with pytest.raises(HttpError) as refused:
            change()
        assert (code(refused), "is in read-only mode" in refused.value.message) == (42205, True)
    found = look_up(registry.state, registry.rule, "a", request(avro("x")), normalize=False, deleted=False)
    assert found.id == 1


def test_an_import_brings_ids_and_versions_of_its_own(registry: Driven) -> None:
    registry.set_mode("a", Mode.IMPORT)
    imported = registry.register("a", avro("x"), id=10, version=7)
    assert (imported.id, imported.version) == (10, 7)
    assert registry.register("a", avro("y"), id=11).version == 8
    with pytest.raises(HttpError) as refused:
        registry.register("a", avro("z"), id=10)
    assert refused.value.message == "Overwrite new schema with id 10 in context  is not permitted."
    with pytest.raises(HttpError) as refused:
        registry.register("a", avro("z"))
    assert code(refused) == 42205
    registry.set_mode("a", None)
    assert registry.register("b", avro("z")).id == 12


def test_importing_needs_an_empty_subject(registry: Driven) -> None:
    registry.register("a", avro("x"))
    with pytest.raises(HttpError) as refused:
        registry.set_mode("a", Mode.IMPORT)
    assert refused.value.message == "Cannot import since found existing subjects"
    with pytest.raises(HttpError):
        registry.set_mode(None, Mode.IMPORT)
    registry.set_mode("a", Mode.IMPORT, force=True)
    registry.set_mode("a", Mode.READWRITE)
    registry.delete("a")
    registry.set_mode("a", Mode.IMPORT)
    assert "a" not in registry.state.subjects


def test_contexts_have_ids_of_their_own(registry: Driven) -> None:
    registry.register("a", avro("x"))
    there = registry.register(":.c:a", avro("y"))
    assert (there.id, registry.register(":.c:b", avro("x")).id) == (1, 2)
    assert b'"keytype":"CONTEXT"' in registry.log[1][0]
    assert sum(b"CONTEXT" in key for key, _ in registry.log) == 1
    found = look_up(registry.state, registry.rule, "b", request(avro("x")), normalize=False, deleted=False)
    assert found.subject == ":.c:b"


@pytest.mark.parametrize(("subject", "error_code"), [("a", 40403), ("b", 40401)])
def test_a_lookup_tells_what_is_missing(registry: Driven, subject: str, error_code: int) -> None:
    registry.register("a", avro("x"))
    with pytest.raises(HttpError) as refused:
        look_up(registry.state, registry.rule, subject, request(avro("q")), normalize=False, deleted=False)
    assert code(refused) == error_code
