"""The bytes of `_schemas`: Confluent's own records are read, and ours have their keys."""

import json

import pytest

from ottla.schema.metadata import Metadata
from ottla.schema.reference import Reference
from ottla.web.registry.state.record_key import (
    AssociationKey,
    ClearSubjectKey,
    ConfigKey,
    ContextKey,
    DeleteSubjectKey,
    ModeKey,
    NoopKey,
    RecordKey,
    SchemaKey,
    decode_key,
    encode_key,
)
from ottla.web.registry.state.record_value import InvalidRecordError, decode_schema, encode_schema
from ottla.web.registry.state.stored_schema import SchemaContent, StoredSchema

KEYS: list[tuple[RecordKey, bytes]] = [
    (SchemaKey("ä/b", 3), '{"keytype":"SCHEMA","subject":"ä/b","version":3,"magic":1}'.encode()),
    (ConfigKey(None), b'{"keytype":"CONFIG","magic":0}'),
    (ConfigKey("s"), b'{"keytype":"CONFIG","subject":"s","magic":0}'),
    (ModeKey(None), b'{"keytype":"MODE","magic":0}'),
    (ModeKey("s"), b'{"keytype":"MODE","subject":"s","magic":0}'),
    (DeleteSubjectKey("s"), b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}'),
    (ClearSubjectKey("s"), b'{"keytype":"CLEAR_SUBJECT","subject":"s","magic":0}'),
    (ContextKey(".c"), b'{"keytype":"CONTEXT","tenant":"default","context":".c","magic":0}'),
    (
        AssociationKey("orders", "lkc-1", "topic", "value", "s"),
        b'{"keytype":"ASSOC","tenant":"default","resourceName":"orders","resourceNamespace":"lkc-1",'
        b'"resourceType":"topic","associationType":"value","subject":"s","magic":0}',
    ),
    (NoopKey(), b'{"keytype":"NOOP","magic":0}'),
]


@pytest.mark.parametrize(("key", "data"), KEYS, ids=lambda value: type(value).__name__)
def test_keys_have_confluents_bytes(key: RecordKey, data: bytes) -> None:
    assert encode_key(key) == data
    assert decode_key(data) == key


@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b'{"keytype":"ASSOC"}', b'{"keytype":"SCHEMA"}', b'{"keytype":"MODE","subject":5}']
)
def test_keys_that_are_not_ours_to_understand_are_passed_over(data: bytes) -> None:
    assert decode_key(data) is None


def test_a_schema_keeps_everything() -> None:
    content = SchemaContent("AVRO", '"string"', (Reference("n", "s", 1),), Metadata.of(properties={"owner": "me"}))
    stored = StoredSchema("a", 2, 7, content, content.digest(), deleted=True, timestamp=5)
    assert decode_schema(SchemaKey("a", 2), encode_schema(stored), 5) == stored
    fields = json.loads(encode_schema(stored))
    assert list(fields) == [
        "subject",
        "version",
        "id",
        "md5",
        "schemaType",
        "references",
        "metadata",
        "schema",
        "deleted",
    ]


def test_old_records_lack_most_fields() -> None:
    stored = decode_schema(SchemaKey("a", 1), b'{"id":4,"schema":"\\"string\\"","future":true}', 9)
    assert (stored.subject, stored.version, stored.id, stored.deleted) == ("a", 1, 4, False)
    assert stored.content.schema_type == "AVRO"
    assert stored.guid == "095d71cf-1255-6b9d-5e33-0ad575b3df5d"


@pytest.mark.parametrize("value", [b"", b"5", b'{"id":1}', b'{"id":1,"schema":"x","references":[{}]}'])
def test_values_that_are_no_schemas_are_told(value: bytes) -> None:
    with pytest.raises(InvalidRecordError):
        decode_schema(SchemaKey("a", 1), value, 0)
