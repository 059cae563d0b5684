"""From records to state, in whatever order a log may have them."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.record_key import ConfigKey, DeleteSubjectKey, ModeKey, SchemaKey, encode_key
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.replay import apply


def schema(subject: str, version: int, number: int, text: str, *, deleted: bool = False) -> tuple[bytes, bytes]:
    value = {"subject": subject, "version": version, "id": number, "schema": text, "deleted": deleted}
    return encode_key(SchemaKey(subject, version)), json.dumps(value).encode()


def tombstone(subject: str, version: int) -> tuple[bytes, None]:
    return encode_key(SchemaKey(subject, version)), None


def state_of(*records: tuple[bytes, bytes | None]) -> RegistryState:
    state = RegistryState()
    for key, value in records:
        state = apply(state, key, value)
    return state


def test_an_id_that_is_taken_by_other_text_is_not_given_again() -> None:
    state = state_of(schema("a", 1, 1, '"string"'), schema("b", 1, 1, '"int"'))
    assert list(state.subjects) == ["a"]
    assert state.context(".").id_max == 1


def test_contexts_count_for_themselves() -> None:
    state = state_of(schema("a", 1, 1, '"string"'), schema(":.c:a", 1, 1, '"int"'))
    assert state.context(".").ids[1].schema.content.text == '"string"'
    assert state.context(".c").ids[1].schema.content.text == '"int"'
    assert state.other_contexts() == [".c"]


def test_ids_are_not_given_again_after_a_delete() -> None:
    state = state_of(schema("a", 1, 5, '"string"'), tombstone("a", 1))
    assert not state.subjects
    assert (len(state.context(".").ids), state.context(".").id_max) == (0, 5)


def test_a_delete_of_a_subject_hides_all_versions_up_to_one() -> None:
    delete = encode_key(DeleteSubjectKey("a")), b'{"subject":"a","version":2}'
    records = [schema("a", version, version, f'"{kind}"') for version, kind in enumerate(("int", "long", "float"), 1)]
    state = state_of(*records, delete)
    assert [stored.version for stored in state.subject("a").live()] == [3]
    assert len(state.context(".").ids) == 3


def test_a_version_that_is_written_anew_is_the_new_one() -> None:
    state = state_of(schema("a", 1, 1, '"string"'), schema("a", 1, 2, '"int"'))
    assert state.subject("a").versions[1].id == 2
    assert list(state.context(".").ids) == [2]


def test_a_content_keeps_the_ids_that_imports_gave_it() -> None:
    state = state_of(schema("a", 1, 1, '"int"'), schema("a", 2, 7, '"int"'), tombstone("a", 1))
    context = state.context(".")
    assert context.id_of(context.ids[7].schema.digest) == 7


def test_settings_and_modes() -> None:
    state = state_of(
        (encode_key(ConfigKey(None)), b'{"compatibilityLevel":"FULL"}'),
        (encode_key(ConfigKey("a")), b'{"subject":"a","compatibilityLevel":"NONE","alias":null}'),
        (b'{"keytype":"MODE","subject":null,"magic":0}', b'{"mode":"READONLY"}'),
        (encode_key(ModeKey("a")), b'{"subject":"a","mode":"NEVER_HEARD_OF"}'),
    )
    assert state.configs[None] == {"compatibilityLevel": "FULL"}
    assert state.configs["a"] == {"compatibilityLevel": "NONE"}
    assert dict(state.modes) == {None: Mode.READONLY}


RECORDS = st.lists(
    st.one_of(
        st.builds(
            schema,
            st.sampled_from(["a", "b", ":.c:a"]),
            st.integers(1, 3),
            st.integers(1, 4),
            st.sampled_from(['"int"', '"long"', '"string"']),
            deleted=st.booleans(),
        ),
        st.builds(tombstone, st.sampled_from(["a", "b", ":.c:a"]), st.integers(1, 3)),
        st.tuples(st.just(encode_key(DeleteSubjectKey("a"))), st.just(b'{"subject":"a","version":2}')),
        st.tuples(st.binary(max_size=20), st.one_of(st.none(), st.binary(max_size=20))),
    ),
    max_size=30,
)


@given(RECORDS)
def test_whatever_the_log_says_the_indexes_agree(records: list[tuple[bytes, bytes | None]]) -> None:
    state = state_of(*records)
    used = {
        (stored.subject, stored.version): stored
        for subject in state.subjects.values()
        for stored in subject.ascending()
    }
    indexed = {
        use: number
        for context in state.contexts.values()
        for number, entry in context.ids.items()
        for use in entry.uses
    }
    assert indexed == {use: stored.id for use, stored in used.items()}
    for context in state.contexts.values():
        for number, entry in context.ids.items():
            assert number <= context.id_max
            assert {used[use].digest for use in entry.uses} == {entry.schema.digest}
            assert number in context.by_digest[entry.schema.digest]
        assert {number for numbers in context.by_digest.values() for number in numbers} == set(context.ids)
    for subject in state.subjects.values():
        assert subject.version_max == max(subject.versions)
