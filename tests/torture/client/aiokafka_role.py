"""aiokafka as an idempotent producer, a transactional one, and a member of a group."""

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.errors import KafkaError

from tests.torture.client.task import SESSION_MS, SOURCES, TRANSACTION_MS, Work
from tests.torture.history import Decision, Outcome

_QUICK = {"retry_backoff_ms": 100}


def producer(work: Work) -> None:
    """An idempotent producer."""
    asyncio.run(_produce(work))


def transactional(work: Work) -> None:
    """A producer in transactions; whatever goes wrong in one ends the process."""
    asyncio.run(_transact(work))


def consumer(work: Work) -> None:
    """A member of a group that commits what it got, in read_committed."""
    asyncio.run(_consume(work))


async def _produce(work: Work) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=work.task.bootstrap,
        client_id=work.task.name,
        enable_idempotence=True,
        request_timeout_ms=120_000,
        **_QUICK,
    ) as client:
        while work.goes_on():
            for _ in range(work.dice.randrange(1, 10)):
                await _send(work, client, SOURCES[0])
            await asyncio.sleep(work.pause() * 2)


async def _transact(work: Work) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=work.task.bootstrap,
        client_id=work.task.name,
        transactional_id=work.task.name.partition(".")[0],
        transaction_timeout_ms=TRANSACTION_MS,
        **_QUICK,
    ) as client:
        while work.goes_on():
            await client.begin_transaction()
            transaction = work.value()
            for _ in range(work.dice.randrange(1, 10)):
                await _send(work, client, work.dice.choice(SOURCES), transaction=transaction)
            commit = work.dice.random() < 0.8
            decision = Decision.COMMIT if commit else Decision.ABORT
            operation = work.recorder.begin("decide", transaction=transaction, decision=decision)
            await (client.commit_transaction() if commit else client.abort_transaction())
            work.recorder.end(operation, Outcome.OK)
            await asyncio.sleep(work.pause())


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, work: Work, client: AIOKafkaConsumer) -> None:
        self._work, self._client = work, client

    async def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        # What is being committed at this time counts, or does not.
        self._work.tell_polls()
        self._work.positions = {}

    async def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        self._work.assigned([(found.topic, found.partition) for found in assigned])


async def _consume(work: Work) -> None:
    client = AIOKafkaConsumer(
        bootstrap_servers=work.task.bootstrap,
        client_id=work.task.name,
        group_id=work.task.identity,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=500,
        **_QUICK,
    )
    client.subscribe(list(SOURCES), listener=_Listener(work, client))
    async with client:
        while work.goes_on():
            for partition, messages in (await client.getmany(timeout_ms=200, max_records=50)).items():
                for message in messages:
                    work.polled(partition.topic, partition.partition, message.offset, message.value)
            await _commit(work, client)


async def _send(work: Work, client: AIOKafkaProducer, topic: str, **more: Any) -> None:
    partition, value = work.partition(), work.value()
    operation = work.recorder.begin("send", partition=f"{topic}-{partition}", value=value, **more)
    future = await client.send(topic, value.encode(), partition=partition)

    def done(told: "asyncio.Future[Any]") -> None:
        if told.cancelled() or told.exception() is not None:
            work.recorder.end(operation, Outcome.UNKNOWN)
        else:
            work.recorder.end(operation, Outcome.OK, offset=told.result().offset)

    future.add_done_callback(done)


async def _commit(work: Work, client: AIOKafkaConsumer) -> None:
    if not work.positions:
        return
    operation = work.begin_commit()
    split = [(name.rpartition("-"), offset) for name, offset in work.positions.items()]
    try:
        await client.commit({TopicPartition(topic, int(index)): offset for (topic, _, index), offset in split})
    except KafkaError as error:
        work.failed(error)
        work.end_commit(operation, Outcome.UNKNOWN)
    else:
        work.end_commit(operation, Outcome.OK)
