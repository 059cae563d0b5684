"""Writes what decisions come to, one batch of them at a time, and answers once the local reader has seen it.

Decisions that arrive while a batch is under way are made together, each on the state that the ones before it will
lead to: nothing waits for a round trip of its own. Invariants: a decision is made only on a state that has read the
log to its end; an answer is given only if the read-back state holds what was written, so a schema that another
instance displaced is decided again and never acknowledged twice.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.errors import RecordTooLargeError
from ottla.client.producer.async_producer import AsyncProducer
from ottla.protocol.errors import MessageTooLargeError, RecordListTooLargeError
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.errors import leader_unknown, schema_too_large, store_failed, timed_out
from ottla.web.registry.decision.outcome import Outcome, Record
from ottla.web.registry.state.record_key import NoopKey, SchemaKey, decode_key, encode_key
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.replay import apply
from ottla.web.registry.store.reader import LogReader

_log: Final = logging.getLogger(__name__)
T = TypeVar("T")
Decide = Callable[[RegistryState], Outcome[T]]
_BATCH_MAX: Final = 200
_ROUNDS_MAX: Final = 10
_TOO_LARGE: Final = (RecordTooLargeError, MessageTooLargeError, RecordListTooLargeError)


class _Wish:
    """A decision that someone waits for."""

    __slots__ = ("decide", "done", "outcome", "refusal")

    def __init__(self, decide: Decide[Any], done: "asyncio.Future[Any]") -> None:
        self.decide: Final = decide
        self.done: Final = done
        self.outcome: Outcome[Any] | None = None
        self.refusal: HttpError | None = None


class LogWriter:
    """The one writer of an instance; it writes while `may_write` says that this instance is the primary."""

    def __init__(
        self,
        topic: str,
        client: Mapping[str, object],
        reader: LogReader,
        may_write: Callable[[], bool],
        timeout_ms: int,
    ) -> None:
        self._topic: Final = topic
        self._client: Final = client
        self._reader: Final = reader
        self._may_write: Final = may_write
        self._timeout_ms: Final = timeout_ms
        self._wishes: Final[asyncio.Queue[_Wish]] = asyncio.Queue()
        self._busy: Final = asyncio.Lock()
        self._producer: AsyncProducer | None = None
        self._knows_end = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to take decisions."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """Ends writing; what waits is refused."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        while not self._wishes.empty():
            _refuse(self._wishes.get_nowait(), leader_unknown())
        await self._drop_producer()

    async def submit(self, decide: Decide[T]) -> tuple[T, int]:
        """The decision's answer once its records are read back, and the offset up to which they were written.

        Raises `HttpError`: what the decision refuses with, 50001, 50002, or 50004 when this instance is no primary.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._wishes.put_nowait(_Wish(decide, done))
        return await done, self._reader.position - 1

    async def find_end(self) -> None:
        """Writes a NOOP and reads up to it: then the state knows all that any instance wrote before."""
        async with self._busy:
            await self._find_end()

    def forget_end(self) -> None:
        """Another instance may have written: the next decision reads to the end first."""
        self._knows_end = False

    async def quiet(self) -> None:
        """Waits until no batch is under way."""
        async with self._busy:
            pass

    async def _run(self) -> None:
        while True:
            wishes = [await self._wishes.get()]
            while len(wishes) < _BATCH_MAX and not self._wishes.empty():
                wishes.append(self._wishes.get_nowait())
            async with self._busy:
                try:
                    await self._serve(wishes)
                except asyncio.CancelledError:
                    for wish in wishes:
                        _refuse(wish, leader_unknown())
                    raise

    async def _serve(self, wishes: Sequence[_Wish]) -> None:
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                await self._settle(wishes)
        except _TOO_LARGE:
            if len(wishes) == 1:
                _refuse(wishes[0], schema_too_large())
                return
            # One of them is too large, and does not tell which: each goes alone.
            for wish in wishes:
                await self._serve([wish])
        except TimeoutError:
            await self._failed(wishes, timed_out("Register operation timed out"))
        except OttlaError as error:
            refusal = error if isinstance(error, HttpError) else store_failed(f"The schemas' topic failed: {error}")
            await self._failed(wishes, refusal)
        except Exception as error:  # noqa: BLE001 - an edge: a decision's bug must not end the writer
            _log.exception("A decision failed")
            await self._failed(wishes, HttpError(500, f"Internal Server Error: {type(error).__name__}"))

    async def _failed(self, wishes: Sequence[_Wish], refusal: HttpError) -> None:
        self._knows_end = False
        for wish in wishes:
            _refuse(wish, refusal)
        if refusal.error_code in (50001, 50002):
            _log.warning("%d writes failed: %s", len(wishes), refusal.message)
            await self._drop_producer()

    async def _settle(self, wishes: Sequence[_Wish]) -> None:
        left = list(wishes)
        for _ in range(_ROUNDS_MAX):
            if not self._may_write():
                raise leader_unknown()
            if not self._knows_end:
                await self._find_end()
            records = self._decide(left)
            if records:
                if not self._may_write():
                    raise leader_unknown()
                await self._reader.reach(await self._write(records))
            left = [wish for wish in left if not self._deliver(wish)]
            if not left:
                return
            self._knows_end = False
        raise store_failed("Other instances write at the same time")

    def _decide(self, wishes: Sequence[_Wish]) -> list[Record]:
        state, records = self._reader.state, list[Record]()
        now_ms = round(time.time() * 1000)
        for wish in wishes:
            wish.outcome = wish.refusal = None
            try:
                wish.outcome = wish.decide(state)
            except HttpError as error:
                wish.refusal = error
                continue
            for key, value in wish.outcome.records:
                state = apply(state, key, value, now_ms)
            records += wish.outcome.records
        return records

    def _deliver(self, wish: _Wish) -> bool:
        """Answers a wish; False if its records were displaced, so that it must be decided again."""
        if wish.refusal is not None:
            _refuse(wish, wish.refusal)
            return True
        assert wish.outcome is not None
        if not all(self._holds(record) for record in wish.outcome.records):
            return False
        if not wish.done.done():
            wish.done.set_result(wish.outcome.answer)
        return True

    def _holds(self, record: Record) -> bool:
        """Whether a schema that was written is what the log says now; a later delete of it is no displacement."""
        key, value = decode_key(record[0]), record[1]
        if not isinstance(key, SchemaKey) or value is None:
            return True
        written = apply(RegistryState(), *record).subject(key.subject).versions[key.version]
        found = self._reader.state.subject(key.subject).versions.get(key.version)
        return found is not None and (found.id, found.digest) == (written.id, written.digest)

    async def _find_end(self) -> None:
        offset = await self._write([(encode_key(NoopKey()), None)])
        await self._reader.reach(offset)
        self._knows_end = True

    async def _write(self, records: Sequence[Record]) -> int:
        """The offset of the last one."""
        producer = await self._started()
        position = self._reader.position
        futures = [await producer.enqueue(self._topic, value, key, partition=0) for key, value in records]
        written = await asyncio.gather(*futures)
        self._reader.written(min(each.offset for each in written), position)
        return max(each.offset for each in written)

    async def _started(self) -> AsyncProducer:
        if self._producer is None:
            timeout_ms = max(1_000, self._timeout_ms)
            producer = AsyncProducer(
                {
                    **self._client,
                    "acks": "all",
                    "enable.idempotence": True,
                    "linger.ms": 0,
                    "delivery.timeout.ms": timeout_ms,
                    "request.timeout.ms": timeout_ms,
                    "max.block.ms": timeout_ms,
                }
            )
            await producer.start()
            self._producer = producer
        return self._producer

    async def _drop_producer(self) -> None:
        """Discards pending writes: a schema must not appear after its write was refused."""
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close(0)


def _refuse(wish: _Wish, error: HttpError) -> None:
    if not wish.done.done():
        wish.done.set_exception(error)
