"""`ottla.client` as an idempotent producer, a transactional one, a member of a group, and a transformer.

The blocking clients are driven by the same coroutines as the asyncio ones, and never wait in them: `_Form` has what
differs.
"""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client import (
    AsyncConsumer,
    AsyncProducer,
    Consumer,
    NoBrokersAvailableError,
    OffsetAndMetadata,
    Producer,
    RecordMetadata,
    TopicPartition,
)
from ottla.client.consumer.fetch.records import Records
from ottla.client.producer.transaction_error import TransactionFailedError
from tests.torture.client.task import RESULTS, SESSION_MS, SOURCES, TRANSACTION_MS, Work
from tests.torture.history import Decision, Outcome

_PATIENCE_SECONDS: Final = 10.0
_ALONE_SECONDS: Final = 15.0
_IN_FLIGHT_MAX: Final = 2_000
_QUICK: Final = {"reconnect.backoff.max.ms": "200", "retry.backoff.max.ms": "200", "request.timeout.ms": "5000"}
_OF_MEMBERS: Final = ("group.", "isolation.", "partition.")


@dataclass(frozen=True)
class _Form:
    """Blocking or asyncio."""

    producer: Callable[..., Any]
    consumer: Callable[..., Any]
    run: Callable[[Coroutine[Any, Any, None]], None]
    sleep: Callable[[float], object]
    send: str
    """The method that puts a record into its batch and does not wait for it."""


def _run_here(work: Coroutine[Any, Any, None]) -> None:
    """To its end; it may call what blocks, and never gives way."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise AssertionError("a blocking client gave way")


BLOCKING: Final = _Form(Producer, Consumer, _run_here, time.sleep, "send")
ASYNCIO: Final = _Form(AsyncProducer, AsyncConsumer, asyncio.run, asyncio.sleep, "enqueue")


def producer(work: Work, form: _Form = BLOCKING) -> None:
    """An idempotent producer, which waits for some of its records at once."""
    form.run(_produce(work, form))


def transactional(work: Work, form: _Form = BLOCKING) -> None:
    """A producer in transactions, most of which it commits."""
    form.run(_transact(work, form))


def consumer(work: Work, form: _Form = BLOCKING) -> None:
    """A member of a group that commits what it got."""
    form.run(_consume(work, form))


def transformer(work: Work, form: _Form = BLOCKING) -> None:
    """Writes a result for each record, in transactions together with its group's offsets."""
    form.run(_transform(work, form))


async def _produce(work: Work, form: _Form) -> None:
    client = await _producer(work, form, {})
    sender = _Sender(work, form, client)
    # Without linger a thread that waits for its record takes it to the broker by itself.
    alone = 0.8 if work.task.settings.get("linger.ms") == "0" else 0.1
    while work.goes_on():
        for _ in range(work.dice.randrange(1, 20)):
            await sender.send(SOURCES[0], is_alone=work.dice.random() < alone)
        await _now(form.sleep(work.pause() * 2 if sender.in_flight < _IN_FLIGHT_MAX else 0.5))
    await _now(client.close(_PATIENCE_SECONDS))


async def _transact(work: Work, form: _Form) -> None:
    client = await _transactional(work, form)
    sender = _Sender(work, form, client)
    while work.goes_on():
        await _now(client.begin_transaction())
        transaction = work.value()
        decision = Decision.COMMIT if work.dice.random() < 0.8 else Decision.ABORT
        try:
            for _ in range(work.dice.randrange(1, 20)):
                await sender.send(work.dice.choice(SOURCES), transaction=transaction)
        except TransactionFailedError as error:
            work.failed(error)
            decision = Decision.ABORT
        await _decide(work, client, transaction, decision)
        await _now(form.sleep(work.pause()))
    await _now(client.close(_PATIENCE_SECONDS))


async def _consume(work: Work, form: _Form) -> None:
    member = _Member(work, form)
    client = member.client
    member.before_revocation = member.commit
    member.subscribe()
    while work.goes_on():
        await member.poll()
        await member.commit()
    await _now(client.close(_PATIENCE_SECONDS))


async def _transform(work: Work, form: _Form) -> None:
    member = _Member(work, form)
    member.subscribe()
    output = await _transactional(work, form)
    sender = _Sender(work, form, output)
    while work.goes_on():
        await _now(output.begin_transaction())
        transaction = work.value()
        try:
            for found in await member.poll():
                source = (work.task.identity, f"{found.topic}-{found.partition}", found.offset)
                await sender.send(RESULTS, transaction=transaction, source=source)
            fits = await member.send_offsets(output, transaction)
        except TransactionFailedError as error:
            work.failed(error)
            fits = False
        if not await _decide(work, output, transaction, Decision.COMMIT if fits else Decision.ABORT):
            await member.rewind()
    await _now(member.client.close(_PATIENCE_SECONDS))
    await _now(output.close(_PATIENCE_SECONDS))


class _Sender:
    """Sends, and writes down what came of it."""

    def __init__(self, work: Work, form: _Form, client: Any) -> None:
        self.in_flight = 0
        self._work = work
        self._form = form
        self._send = getattr(client, form.send)

    async def send(self, topic: str, *, is_alone: bool = False, **more: Any) -> None:
        """A record; one that is alone is waited for."""
        partition, value = self._work.partition(), self._work.value()
        operation = self._work.recorder.begin("send", partition=f"{topic}-{partition}", value=value, **more)

        def delivered(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self.in_flight -= 1
            if metadata is not None:
                where = {"offset": metadata.offset} if metadata.offset >= 0 else {}
                self._work.recorder.end(operation, Outcome.OK, **where)
            else:
                self._work.recorder.end(operation, Outcome.UNKNOWN, error=str(error))

        if not is_alone:
            self.in_flight += 1
            found = self._send(topic, value.encode(), partition=partition, on_delivery=delivered)
            if self._form is ASYNCIO:
                await found
            return
        future = self._send(topic, value.encode(), partition=partition)
        try:
            if self._form is ASYNCIO:
                async with asyncio.timeout(_ALONE_SECONDS):
                    metadata = await (await future)
            else:
                metadata = future.result(_ALONE_SECONDS)
        except (OttlaError, TimeoutError) as error:
            self._work.recorder.end(operation, Outcome.UNKNOWN, error=str(error))
        else:
            where = {"offset": metadata.offset} if metadata.offset >= 0 else {}
            self._work.recorder.end(operation, Outcome.OK, **where)


class _Member:
    """A consumer in its group."""

    def __init__(self, work: Work, form: _Form) -> None:
        own: dict[str, str] = {
            "group.id": work.task.identity,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
        if work.task.settings.get("group.protocol") != "consumer":
            own |= {"session.timeout.ms": str(SESSION_MS), "heartbeat.interval.ms": "500"}
        settings = {name: value for name, value in work.task.settings.items() if name.startswith(_OF_MEMBERS)}
        self.client = form.consumer(_settings(work) | own | settings)
        self.before_revocation: Callable[[], Awaitable[None]] | None = None
        self._work = work
        self._form = form

    def subscribe(self) -> None:
        """To what producers write."""

        def told(
            coming: Callable[[Collection[TopicPartition]], Coroutine[Any, Any, None]],
        ) -> Callable[[Any, Collection[TopicPartition]], Awaitable[None] | None]:
            if self._form is ASYNCIO:
                return lambda _, partitions: coming(partitions)
            return lambda _, partitions: _run_here(coming(partitions))

        self.client.subscribe(
            SOURCES, on_assigned=told(self._assigned), on_revoked=told(self._revoked), on_lost=told(self._lost)
        )

    async def _assigned(self, partitions: Collection[TopicPartition]) -> None:
        self._work.tell_polls()
        self._work.assigned(list(partitions))

    async def _revoked(self, partitions: Collection[TopicPartition]) -> None:
        self._work.tell_polls()
        if self.before_revocation is not None:
            await self.before_revocation()
        await self._lost(partitions)

    async def _lost(self, partitions: Collection[TopicPartition]) -> None:
        self._work.tell_polls()
        for found in partitions:
            self._work.positions.pop(f"{found.topic}-{found.partition}", None)

    async def poll(self) -> Records:
        """The records of one poll."""
        try:
            records = await _now(self.client.poll(0.2))
        except NoBrokersAvailableError as error:
            self._work.failed(error)
            return Records()
        for record in records:
            self._work.polled(record.topic, record.partition, record.offset, record.value)
        for partition, after in records.next_offsets().items():
            self._work.positions[f"{partition.topic}-{partition.partition}"] = after.offset
        self._work.tell_polls()
        return records

    async def commit(self) -> None:
        """What was polled and is still ours: all positions, or the same offsets by name."""
        if not self._work.positions:
            return
        operation = self._work.begin_commit()
        offsets = None if self._work.dice.random() < 0.5 else self._offsets()
        try:
            await _now(self.client.commit(offsets, _PATIENCE_SECONDS))
        except OttlaError as error:
            self._work.failed(error)
            self._work.end_commit(operation, Outcome.UNKNOWN)
        else:
            self._work.end_commit(operation, Outcome.OK)

    async def send_offsets(self, output: Any, transaction: str) -> bool:
        """What was polled, as part of a transaction; whether that succeeded."""
        if not self._work.positions:
            return True
        operation = self._work.begin_commit(transaction)
        try:
            await _now(output.send_offsets_to_transaction(self._offsets(), self.client.group_metadata()))
        except OttlaError as error:
            self._work.failed(error)
            self._work.end_commit(operation, Outcome.UNKNOWN)
            return False
        self._work.end_commit(operation, Outcome.OK)
        return True

    async def rewind(self) -> None:
        """Back to what the group has committed, for everything that this member owns."""
        self._work.positions = {}
        while (owned := self.client.assignment()) and self._work.goes_on():
            self._work.assigned(list(owned))
            try:
                for partition, found in (await _now(self.client.committed(owned, 5))).items():
                    self.client.seek(partition, found or 0)
                return
            except OttlaError as error:
                self._work.failed(error)
                # Partitions may have to be given up before anything else is answered.
                await _now(self.client.poll(0.2))

    def _offsets(self) -> Mapping[TopicPartition, OffsetAndMetadata | int]:
        split = [(name.rpartition("-"), offset) for name, offset in self._work.positions.items()]
        return {TopicPartition(topic, int(index)): offset for (topic, _, index), offset in split}


async def _transactional(work: Work, form: _Form) -> Any:
    own = {
        "transactional.id": work.task.name.partition(".")[0],
        "transaction.timeout.ms": str(TRANSACTION_MS),
        "delivery.timeout.ms": str(TRANSACTION_MS),
        "max.block.ms": str(round(_PATIENCE_SECONDS * 1000)),
    }
    client = await _producer(work, form, own)
    work.goes_on()
    await _now(client.init_transactions())
    return client


async def _producer(work: Work, form: _Form, own: dict[str, str]) -> Any:
    """One that is connected; brokers may just be away."""
    settings = {name: value for name, value in work.task.settings.items() if not name.startswith(_OF_MEMBERS)}
    while True:
        try:
            client = form.producer(_settings(work) | own | settings)
            if form is ASYNCIO:
                await client.start()
        except NoBrokersAvailableError as error:
            work.failed(error)
            if work.is_over:
                raise
            await _now(form.sleep(0.2))
        else:
            return client


async def _decide(work: Work, client: Any, transaction: str, decision: Decision) -> bool:
    """Ends a transaction; whether it was committed. Errors that nothing helps against end the process."""
    operation = work.recorder.begin("decide", transaction=transaction, decision=decision)
    end = client.commit_transaction if decision is Decision.COMMIT else client.abort_transaction
    while True:
        try:
            await _now(end())
        except OttlaError as error:
            work.failed(error)
            if getattr(error, "retriable", False):
                work.goes_on()
                continue
            work.recorder.end(operation, Outcome.UNKNOWN, error=str(error))
            if isinstance(error, TransactionFailedError) and decision is Decision.COMMIT:
                return await _decide(work, client, transaction, Decision.ABORT)
            raise
        work.recorder.end(operation, Outcome.OK)
        return decision is Decision.COMMIT


def _settings(work: Work) -> dict[str, str]:
    return {"bootstrap.servers": work.task.bootstrap, "client.id": work.task.name} | _QUICK


async def _now(found: Any) -> Any:
    """What a blocking call returned, or what an asyncio one gives."""
    return await found if inspect.isawaitable(found) else found
