"""`/consumers/{group}`: consumers that live in the proxy between requests.

Committing an offset stores the next one: the offsets of version 2 are those of the last records that were read.
"""

from typing import Any, Final
from urllib.parse import quote

from ottla.base.config import ConfigError
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.web.http.answer import Answer, json_answer
from ottla.web.http.errors import HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import CONSUMER, FORMAT_OF, RECORDS
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import partition_not_found
from ottla.web.rest.field import INT64, Fields
from ottla.web.rest.record.format import EmbeddedFormat
from ottla.web.rest.v2.instance import ConsumerInstance, ReadLimits
from ottla.web.rest.v2.instances import ConsumerInstances

_NEW: Final = (
    *("id", "name", "format", "auto.offset.reset", "auto.commit.enable", "fetch.min.bytes"),
    *("consumer.request.timeout.ms", "responseMinBytes", "requestWaitMs"),
)
_FORMATS: Final = {kind.value: kind for kind in FORMAT_OF.values()}
_PARTITION: Final = ("topic", "partition")
_OFFSET: Final = ("topic", "partition", "offset", "metadata")
_TIMESTAMP: Final = ("topic", "partition", "timestamp", "metadata")
_READ_MAX_MS: Final = 60_000


class ConsumerApi:
    """Handlers of consumers."""

    def __init__(self, context: RestContext, instances: ConsumerInstances) -> None:
        self._context: Final = context
        self._settings: Final = context.config.settings
        self._instances: Final = instances

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(CONSUMER)
        instance = "/consumers/{group}/instances/{instance}"
        routes.add("POST", "/consumers/{group}", self.create)
        routes.add("DELETE", instance, self.delete)
        routes.add("POST", f"{instance}/subscription", self.subscribe)
        routes.add("GET", f"{instance}/subscription", self.show_subscription)
        routes.add("DELETE", f"{instance}/subscription", self.unsubscribe)
        routes.add("GET", f"{instance}/records", self.read, RECORDS)
        routes.add("POST", f"{instance}/offsets", self.commit)
        routes.add("GET", f"{instance}/offsets", self.show_committed)
        routes.add("POST", f"{instance}/positions", self.seek)
        routes.add("POST", f"{instance}/positions/beginning", self.seek_to_beginning)
        routes.add("POST", f"{instance}/positions/end", self.seek_to_end)
        routes.add("POST", f"{instance}/assignments", self.assign)
        routes.add("GET", f"{instance}/assignments", self.show_assignments)
        return routes.found

    async def create(self, request: Request) -> Answer:
        """Makes a consumer."""
        wish = Fields(await request.json() if await request.body() else {}, _NEW)
        kind = _FORMATS.get((wish.optional_text("format") or "binary").upper())
        if kind is None:
            raise HttpError(422, "Invalid format type.")
        group = request.parameters["group"]
        name = wish.optional_text("id") or wish.optional_text("name") or self._instances.new_name()
        wait_ms = _either(wish, "consumer.request.timeout.ms", "requestWaitMs")
        bytes_min = _either(wish, "fetch.min.bytes", "responseMinBytes")
        if bytes_min is not None and not -1 <= bytes_min <= 10_000_000:
            constraint = "It does not abide by the constraints: fetch.min.bytes must be from -1 to 10000000"
            raise HttpError(400, f"Invalid consumer configuration. {constraint}", 40001)
        self._instances.check_free(group, name)
        try:
            made = ConsumerInstance(self._consumer_settings(group, wish), kind, self._context.book)
        except ConfigError as error:
            raise HttpError(422, f"Invalid consumer configuration: {error}", 42204) from None
        made.wait_ms = self._settings.integer("consumer.request.timeout.ms") if wait_ms is None else wait_ms
        made.bytes_min = self._settings.integer("fetch.min.bytes") if bytes_min is None else bytes_min
        self._instances.add(group, name, made)
        path = f"consumers/{quote(group, safe='')}/instances/{quote(name, safe='')}"
        return json_answer({"instance_id": name, "base_uri": f"{self._context.base_url(request)}/{path}"})

    async def delete(self, request: Request) -> Answer:
        """Closes a consumer."""
        await self._instances.remove(request.parameters["group"], request.parameters["instance"])
        return Answer(204)

    async def subscribe(self, request: Request) -> Answer:
        """Shares topics with the group."""
        wish = Fields(await request.json(), ("topics", "topic_pattern"))
        topics = [_name(each) for each in wish.optional_list("topics")]
        pattern = wish.optional_text("topic_pattern")
        if not wish.has("topics") and pattern is None:
            raise HttpError(422, "topics or topic_pattern is needed")
        async with self._use(request) as instance:
            if topics or pattern is not None:
                instance.subscribe(topics, None if topics else pattern)
            else:
                await instance.consumer.unsubscribe()
        return Answer(204)

    async def show_subscription(self, request: Request) -> Answer:
        """The topics that a consumer shares."""
        async with self._use(request) as instance:
            return json_answer({"topics": sorted(instance.consumer.subscription())})

    async def unsubscribe(self, request: Request) -> Answer:
        """Gives all topics up."""
        async with self._use(request) as instance:
            await instance.consumer.unsubscribe()
        return Answer(204)

    async def read(self, request: Request) -> Answer:
        """The next records."""
        timeout_ms = _long_of(request, "timeout")
        bytes_max = _long_of(request, "max_bytes")
        wanted = FORMAT_OF.get(request.content_type, EmbeddedFormat.BINARY)
        most = self._settings.integer("consumer.request.max.bytes")
        async with self._use(request) as instance:
            if instance.kind is not wanted:
                message = (
                    "The requested embedded data format does not match the deserializer for this consumer instance"
                )
                raise HttpError(406, message, 40601)
            wait_ms = instance.wait_ms if timeout_ms < 0 else timeout_ms
            limits = ReadLimits(
                min(wait_ms, _READ_MAX_MS) / 1000,
                instance.bytes_min,
                min(bytes_max, most) if bytes_max > 0 else most,
            )
            return json_answer(await instance.read(limits))

    async def commit(self, request: Request) -> Answer:
        """Commits offsets, or what was read so far."""
        body = await request.json() if await request.body() else None
        offsets = None
        if body is not None:
            offsets = {
                _partition(each): OffsetAndMetadata(
                    each.natural("offset", INT64) + 1, each.optional_text("metadata") or ""
                )
                for each in Fields(body, ("offsets",)).objects("offsets", _OFFSET)
            }
        async with self._use(request) as instance:
            if offsets is None and request.flag("async"):
                instance.consumer.commit_async()
            elif offsets is None or offsets:
                await instance.consumer.commit(offsets)
        return json_answer([])

    async def show_committed(self, request: Request) -> Answer:
        """Shows the group's committed offsets."""
        if not await request.body():
            raise partition_not_found()
        partitions = _partitions(await request.json())
        async with self._use(request) as instance:
            found = await instance.consumer.committed(partitions) if partitions else {}
        shown = [
            {"topic": place.topic, "partition": place.partition, "offset": at.offset, "metadata": at.metadata}
            for place, at in found.items()
            if at is not None
        ]
        return json_answer({"offsets": shown})

    async def seek(self, request: Request) -> Answer:
        """Goes on at offsets or times."""
        body = Fields(await request.json(), ("offsets", "timestamps"))
        offsets = {
            _partition(each): OffsetAndMetadata(each.natural("offset", INT64), each.optional_text("metadata") or "")
            for each in body.objects("offsets", _OFFSET)
        }
        times: dict[TopicPartition, int] = {}
        for each in body.objects("timestamps", _TIMESTAMP):
            moment = each.moment("timestamp")
            if moment is None or moment < 0:
                raise HttpError(422, "timestamp must be a time since 1970")
            times[_partition(each)] = moment
        async with self._use(request) as instance:
            await instance.seek(offsets, times)
        return Answer(204)

    async def seek_to_beginning(self, request: Request) -> Answer:
        """Goes on at the first records."""
        partitions = _partitions(await request.json())
        async with self._use(request) as instance:
            if partitions:
                instance.consumer.seek_to_beginning(partitions)
        return Answer(204)

    async def seek_to_end(self, request: Request) -> Answer:
        """Goes on behind the last records."""
        partitions = _partitions(await request.json())
        async with self._use(request) as instance:
            if partitions:
                instance.consumer.seek_to_end(partitions)
        return Answer(204)

    async def assign(self, request: Request) -> Answer:
        """Reads partitions without sharing them."""
        partitions = _partitions(await request.json())
        async with self._use(request) as instance:
            instance.consumer.assign(partitions)
        return Answer(204)

    async def show_assignments(self, request: Request) -> Answer:
        """The partitions that a consumer reads."""
        async with self._use(request) as instance:
            found = sorted(instance.consumer.assignment())
        return json_answer({"partitions": [{"topic": each.topic, "partition": each.partition} for each in found]})

    def _use(self, request: Request) -> Any:
        return self._instances.use(request.parameters["group"], request.parameters["instance"])

    def _consumer_settings(self, group: str, wish: Fields) -> dict[str, object]:
        settings: dict[str, object] = {**self._context.config.consumer, "group.id": group}
        reset, commits = wish.optional_text("auto.offset.reset"), wish.optional_text("auto.commit.enable")
        if reset is not None:
            settings["auto.offset.reset"] = reset
        if commits is not None:
            settings["enable.auto.commit"] = commits
        return settings


def _either(wish: Fields, name: str, alias: str) -> int | None:
    return wish.optional_integer(name if wish.has(name) else alias)


def _partition(each: Fields) -> TopicPartition:
    topic = each.text("topic")
    if not topic:
        raise HttpError(422, "topic may not be empty")
    return TopicPartition(topic, each.natural("partition"))


def _partitions(body: Any) -> list[TopicPartition]:
    return [_partition(each) for each in Fields(body, ("partitions",)).objects("partitions", _PARTITION)]


def _name(value: Any) -> str:
    return Fields({"topics": value}, ("topics",)).text("topics")


def _long_of(request: Request, name: str) -> int:
    """A number of 64 bits in the query, -1 if it is absent; 404 for what is none, as JAX-RS does."""
    text = request.query.get(name, "")
    if not text:
        return -1
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 19:
        raise HttpError(404, f"The query parameter {name} must be an integer")
    return int(text)
