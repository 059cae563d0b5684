"""`POST …/topics/{topic_name}/records`: records one after the other, answered while they come; and `records:batch`.

A stream's status is 200 once it has begun; each record has an object in the answer, in order, as soon as a broker has
it. What can't be read as a record has an object with the error, and the stream goes on; where the stream can't be cut
into objects any more it ends with one.

Invariant: no more than `streaming.records.max` records of a stream are unacknowledged; the rest is not read.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final, Protocol

from ottla.base.errors import OttlaError
from ottla.client.errors import KafkaTimeoutError
from ottla.web.http.answer import Answer, json_answer, json_bytes
from ottla.web.http.errors import ClientGoneError, HttpError
from ottla.web.http.request import Request
from ottla.web.http.route import Route
from ottla.web.rest.content import V3
from ottla.web.rest.context import RestContext, Routes
from ottla.web.rest.errors import from_kafka, partition_not_found, topic_not_found
from ottla.web.rest.field import Fields
from ottla.web.rest.sending import Sent, TopicAbsentError, is_late
from ottla.web.rest.v3.json_stream import JsonStream, JsonStreamError
from ottla.web.rest.v3.link import links_of
from ottla.web.rest.v3.record_request import RECORD, RecordRequest, read_record, show_sent

_ID_LENGTH_MAX: Final = 80


class RecordApi:
    """Handlers of records."""

    def __init__(self, context: RestContext) -> None:
        self._context: Final = context
        settings = context.config.settings
        self._entries_max: Final = settings.integer("api.v3.produce.batch.maximum.entries")
        self._unacknowledged_max: Final = settings.integer("streaming.records.max")
        self._record_bytes_max: Final = settings.integer("body.bytes.max")
        self._idle_s: Final = settings.integer("idle.timeout.ms") / 1000
        self._duration_s: Final = settings.integer("streaming.connection.max.duration.ms") / 1000

    def routes(self) -> list[Route]:
        """Method, path, handler."""
        routes = Routes(V3)
        topic = "/v3/clusters/{cluster_id}/topics/{topic_name}"
        routes.add("POST", f"{topic}/records", self.stream)
        routes.add("POST", f"{topic}/records:batch", self.batch)
        return routes.found

    async def stream(self, request: Request) -> Answer:
        """Sends records as they come."""
        links_of(self._context, request)
        return Answer(200, parts=self._answers(request))

    async def batch(self, request: Request) -> Answer:
        """Sends up to ten records, each with an id."""
        links_of(self._context, request)
        body = Fields(await request.json(), ("entries",))
        entries = list(body.objects("entries", ("id", *RECORD)))
        self._check(entries)
        topic = request.parameters["topic_name"]
        answers = await asyncio.gather(*(self._answer_to(entry, topic) for entry in entries))
        successes, failures = [], []
        for entry, answer in zip(entries, answers, strict=True):
            code = answer.pop("error_code")
            if code == 200:
                successes.append({"id": entry.text("id"), **answer})
            else:
                failures.append({"id": entry.text("id"), "error_code": code, **answer})
        return json_answer({"successes": successes, "failures": failures}, 207)

    def _check(self, entries: list[Fields]) -> None:
        if not entries:
            raise HttpError(422, "Empty batch.", 42208)
        if len(entries) > self._entries_max:
            raise HttpError(422, "Too many entries in batch.", 42208)
        names = [entry.text("id") for entry in entries]
        if not all(0 < len(name) <= _ID_LENGTH_MAX for name in names):
            raise HttpError(422, "Batch entry identifier is not a valid string.", 42208)
        if len(set(names)) < len(names):
            raise HttpError(422, "Batch entry IDs are not distinct.", 42208)

    async def _answer_to(self, fields: Fields, topic: str) -> dict[str, Any]:
        """The answer to one record, waited for."""
        return await (await self._taken(fields, topic)).answer(self._context.cluster_id)

    async def _answers(self, request: Request) -> AsyncIterator[bytes]:
        """A line for each record, in their order, once it is done."""
        waiting = _Waiting(self._unacknowledged_max)
        reading = asyncio.ensure_future(self._read(request, waiting))
        try:
            while (pending := await waiting.next()) is not None:
                lines = [await self._line(pending, waiting)]
                # What is done as well leaves in the same piece.
                while (pending := waiting.next_done()) is not None:
                    lines.append(await self._line(pending, waiting))
                yield b"".join(lines)
            await reading
        finally:
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError, ClientGoneError):
                await reading

    async def _line(self, pending: "_Pending", waiting: "_Waiting") -> bytes:
        answer = await pending.answer(self._context.cluster_id)
        waiting.free()
        return json_bytes(answer) + b"\r\n"

    async def _read(self, request: Request, waiting: "_Waiting") -> None:
        """Takes records in, as fast as they are acknowledged."""
        topic = request.parameters["topic_name"]
        stream = JsonStream(self._record_bytes_max)
        try:
            async with asyncio.timeout(self._duration_s):
                async for piece in request.chunks(self._idle_s):
                    for text in stream.feed(piece):
                        await waiting.room()
                        waiting.add(await self._taken(_json(text), topic))
            if not stream.is_between:
                waiting.add(_Refused(HttpError(400, "Error processing JSON: the last record has no end")))
        except JsonStreamError as error:
            waiting.add(_Refused(HttpError(400, f"Error processing JSON: {error}")))
        except TimeoutError:
            limit = f"more than {self._duration_s:g} s (streaming.connection.max.duration.ms)"
            waiting.add(_Refused(HttpError(408, f"Streaming connection open for too long: {limit}")))
        except HttpError as error:
            waiting.add(_Refused(error))
        finally:
            waiting.add(None)

    async def _taken(self, given: "Fields | HttpError", topic: str) -> "_Pending":
        """A record that is on its way, or why it is not."""
        if isinstance(given, HttpError):
            return _Refused(given)
        try:
            wish = await read_record(given, topic, self._context.book)
            return _Sent(wish, await self._context.sender.submit(topic, wish.record))
        except TopicAbsentError:
            return _Refused(topic_not_found())
        except OttlaError as error:
            return _Refused(error)


class _Pending(Protocol):
    """A record whose answer is not written yet."""

    @property
    def is_done(self) -> bool:
        """Whether the answer is known."""
        ...

    async def answer(self, cluster_id: str) -> dict[str, Any]:
        """The answer, waited for."""
        ...


class _Refused:
    """A record that was not sent."""

    is_done = True

    def __init__(self, error: OttlaError) -> None:
        self._error: Final = error

    async def answer(self, cluster_id: str) -> dict[str, Any]:
        del cluster_id
        found = from_kafka(self._error)
        return {"error_code": found.error_code, "message": found.message}


class _Sent:
    """A record that is on its way."""

    def __init__(self, wish: RecordRequest, sent: Sent) -> None:
        self._wish: Final = wish
        self._sent: Final = sent

    @property
    def is_done(self) -> bool:
        return self._sent.done()

    async def answer(self, cluster_id: str) -> dict[str, Any]:
        try:
            found = await self._sent
        except OttlaError as error:
            is_missing = is_late(self._sent) and isinstance(error, KafkaTimeoutError)
            return await _Refused(partition_not_found() if is_missing else error).answer(cluster_id)
        return {"error_code": 200, **show_sent(self._wish, found, cluster_id)}


class _Waiting:
    """The records of a stream that are not answered yet, in their order."""

    def __init__(self, count_max: int) -> None:
        self._queue: Final[deque[_Pending | None]] = deque()
        self._room: Final = asyncio.Semaphore(count_max)
        self._news: Final = asyncio.Event()

    async def room(self) -> None:
        """Waits until there is room for one more."""
        await self._room.acquire()

    def free(self) -> None:
        """One is answered."""
        self._room.release()

    def add(self, pending: _Pending | None) -> None:
        """One more; None is the end."""
        self._queue.append(pending)
        self._news.set()

    async def next(self) -> _Pending | None:
        """The first that is not answered."""
        while not self._queue:
            self._news.clear()
            await self._news.wait()
        return self._queue.popleft()

    def next_done(self) -> _Pending | None:
        """The first that is not answered, if its answer is known."""
        if self._queue and (first := self._queue[0]) is not None and first.is_done:
            return self._queue.popleft()
        return None


def _json(text: bytes) -> Fields | HttpError:
    try:
        return Fields(json.loads(text), RECORD)
    except HttpError as error:
        return error
    except (ValueError, RecursionError) as error:
        return HttpError(400, f"Error processing JSON: {error}")
