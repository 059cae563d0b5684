"""A record as version 3 asks for it, and the answer to it."""

from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.client.record import RecordMetadata
from ottla.web.http.errors import HttpError
from ottla.web.rest.errors import bad_request, partition_not_found
from ottla.web.rest.field import Fields, show_moment
from ottla.web.rest.record.format import EmbeddedFormat, base64_bytes, encode_plain
from ottla.web.rest.record.schema import ChosenSchema, SchemaBook, SchemaChoice
from ottla.web.rest.sending import OutgoingRecord

RECORD: Final = ("partition_id", "headers", "key", "value", "timestamp", "original_size")
_DATA: Final = ("type", "subject", "subject_name_strategy", "schema_id", "schema_version", "schema", "data")
_STRATEGIES: Final = {"TOPIC_NAME": "TOPIC", "RECORD_NAME": "RECORD", "TOPIC_RECORD_NAME": "TOPIC_RECORD"}


@frozen
class EncodedPart:
    """A key or a value, and how it came about."""

    data: bytes | None
    kind: EmbeddedFormat | None
    """None for what was not given."""
    schema: ChosenSchema | None

    def shown(self) -> dict[str, Any] | None:
        """The part in an answer."""
        if self.kind is None:
            return None
        schema = self.schema
        named = (
            {}
            if schema is None
            else {"subject": schema.subject, "schema_id": schema.schema_id, "schema_version": schema.version}
        )
        return {"type": self.kind.value, **named, "size": 0 if self.data is None else len(self.data)}


@frozen
class RecordRequest:
    """One record, ready to be sent."""

    record: OutgoingRecord
    key: EncodedPart
    value: EncodedPart


async def read_record(fields: Fields, topic: str, book: SchemaBook) -> RecordRequest:
    """The record that an object asks for. Raises `HttpError`."""
    partition = fields.optional_integer("partition_id")
    if partition is not None and partition < 0:
        raise partition_not_found()
    timestamp = fields.moment("timestamp")
    if timestamp is not None and timestamp < 0:
        raise bad_request("timestamp must be a time since 1970")
    key = await _part(fields.raw("key"), topic, book, is_key=True)
    value = await _part(fields.raw("value"), topic, book, is_key=False)
    record = OutgoingRecord(key.data, value.data, partition, timestamp, _headers(fields))
    return RecordRequest(record, key, value)


def show_sent(request: RecordRequest, sent: RecordMetadata, cluster_id: str) -> dict[str, Any]:
    """The answer with a sent record's place."""
    shown: dict[str, Any] = {
        "cluster_id": cluster_id,
        "topic_name": sent.topic,
        "partition_id": sent.partition,
        "offset": sent.offset,
        "timestamp": show_moment(sent.timestamp_ms),
    }
    for name, part in (("key", request.key.shown()), ("value", request.value.shown())):
        if part is not None:
            shown[name] = part
    return shown


async def _part(given: Any, topic: str, book: SchemaBook, *, is_key: bool) -> EncodedPart:
    if given is None:
        return EncodedPart(None, None, None)
    fields = Fields(given, _DATA)
    kind = _kind(fields.optional_text("type"))
    data = fields.raw("data")
    if kind is not None and kind.schema_type is None:
        return EncodedPart(encode_plain(kind, data), kind, None)
    choice = _choice(fields, topic, kind, is_key=is_key)
    schema = await book.choose(choice)
    return EncodedPart(schema.encode(data), schema.kind, schema)


def _choice(fields: Fields, topic: str, kind: EmbeddedFormat | None, *, is_key: bool) -> SchemaChoice:
    """The choice of the schema: an id, a version, a text with its type, or nothing, which is the latest."""
    schema_id, version = fields.optional_integer("schema_id"), fields.optional_integer("schema_version")
    text = fields.optional_text("schema")
    ways = [each is not None for each in (schema_id, version, text)]
    if sum(ways) > 1 or (kind is None) is (text is not None):
        raise HttpError(400, "Unsupported argument: one of schema_id, schema_version, or type with schema is needed")
    strategy = fields.optional_text("subject_name_strategy")
    if strategy is not None and strategy.upper() not in _STRATEGIES:
        raise bad_request(f"subject_name_strategy {strategy} is none of {', '.join(_STRATEGIES)}")
    return SchemaChoice(
        topic,
        is_key,
        kind,
        fields.optional_text("subject"),
        None if strategy is None else _STRATEGIES[strategy.upper()],
        schema_id,
        version,
        text,
    )


def _kind(text: str | None) -> EmbeddedFormat | None:
    if text is None:
        return None
    try:
        return EmbeddedFormat(text.upper())
    except ValueError:
        raise bad_request(f"type {text} is none of {', '.join(each.value for each in EmbeddedFormat)}") from None


def _headers(fields: Fields) -> tuple[tuple[str, bytes | None], ...]:
    found: list[tuple[str, bytes | None]] = []
    for each in fields.objects("headers", ("name", "value")):
        text = each.optional_text("value")
        data = None if text is None else base64_bytes(text)
        if text is not None and data is None:
            raise bad_request(f"the value of the header {each.text('name')} is not a base64 string.")
        found.append((each.text("name"), data))
    return tuple(found)
