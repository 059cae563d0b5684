"""`POST /topics/{topic}` and `…/partitions/{partition}`: records in a body whose content type says what they are.

The answer is 200 whatever becomes of the records: each has an entry with its place, or with an error.
"""

from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import FORMAT_OF, PRODUCE
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import record_error_code
from ottla.web.rest.field import Fields
from ottla.web.rest.record.format import EmbeddedFormat, encode_plain
from ottla.web.rest.record.schema import ChosenSchema, SchemaChoice
from ottla.web.rest.sending import OutgoingRecord, SendResult
from ottla.web.rest.v2.topic import partition_number

_BODY: Final = ("records", "key_schema", "key_schema_id", "value_schema", "value_schema_id")
_RECORD: Final = ("key", "value", "partition")


class ProduceApi:
    """Handlers of produce."""

    def __init__(self, context: RestContext) -> None:
        self._sender: Final = context.sender
        self._book: Final = context.book

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(PRODUCE)
        routes.add("POST", "/topics/{topic}", self.produce)
        routes.add("POST", "/topics/{topic}/partitions/{partition}", self.produce_to_partition)
        return routes.found

    async def produce(self, request: Request) -> Answer:
        """Sends records to a topic."""
        return await self._produce(request, None)

    async def produce_to_partition(self, request: Request) -> Answer:
        """Sends records to one partition."""
        return await self._produce(request, partition_number(request.parameters["partition"]))

    async def _produce(self, request: Request, partition: int | None) -> Answer:
        kind = FORMAT_OF.get(request.media_type, EmbeddedFormat.BINARY)
        body = Fields(await request.json(), _BODY)
        if not body.optional_list("records"):
            raise HttpError(422, "records may not be empty")
        topic = request.parameters["topic"]
        key_schema = await self._schema(body, topic, kind, is_key=True)
        value_schema = await self._schema(body, topic, kind, is_key=False)
        records = [
            OutgoingRecord(
                _encoded(
                    kind, key_schema, each.raw("key"), 42201, "Request includes keys but does not include key schema"
                ),
                _encoded(
                    kind,
                    value_schema,
                    each.raw("value"),
                    42202,
                    "Request includes values but does not include value schema",
                ),
                each.natural("partition") if each.has("partition") else partition,
            )
            for each in body.objects("records", _RECORD)
        ]
        outcomes = await self._sender.send_all(topic, records)
        return json_answer(
            {
                "offsets": [_shown(outcome) for outcome in outcomes],
                "key_schema_id": None if key_schema is None else key_schema.schema_id,
                "value_schema_id": None if value_schema is None else value_schema.schema_id,
            }
        )

    async def _schema(self, body: Fields, topic: str, kind: EmbeddedFormat, *, is_key: bool) -> ChosenSchema | None:
        part = "key" if is_key else "value"
        schema_id = body.optional_integer(f"{part}_schema_id")
        text = body.optional_text(f"{part}_schema")
        if kind.schema_type is None or (schema_id is None and text is None):
            return None
        if schema_id is not None:
            return await self._book.choose(SchemaChoice(topic, is_key, schema_id=schema_id))
        return await self._book.choose(SchemaChoice(topic, is_key, kind, text=text))


def _encoded(
    kind: EmbeddedFormat, schema: ChosenSchema | None, value: Any, missing_code: int, missing: str
) -> bytes | None:
    if kind.schema_type is None:
        return encode_plain(kind, value)
    if value is None:
        return None
    if schema is None:
        raise HttpError(422, missing, missing_code)
    return schema.encode(value)


def _shown(outcome: SendResult) -> dict[str, Any]:
    if isinstance(outcome, OttlaError):
        return {"partition": None, "offset": None, "error_code": record_error_code(outcome), "error": str(outcome)}
    return {"partition": outcome.partition, "offset": outcome.offset, "error_code": None, "error": None}
