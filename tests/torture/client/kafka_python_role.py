"""kafka-python as an idempotent producer, a transactional one, and a member of a group."""

import time
from typing import Any

from kafka.errors import KafkaError

from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from tests.torture.client.task import SESSION_MS, SOURCES, TRANSACTION_MS, Work
from tests.torture.history import Decision, Outcome

_PATIENCE_SECONDS = 30.0
_QUICK = {"reconnect_backoff_max_ms": 200, "request_timeout_ms": 5_000}


def producer(work: Work) -> None:
    """An idempotent producer."""
    client = KafkaProducer(
        bootstrap_servers=work.task.bootstrap, client_id=work.task.name, enable_idempotence=True, linger_ms=2, **_QUICK
    )
    while work.goes_on():
        for _ in range(work.dice.randrange(1, 10)):
            _send(work, client, SOURCES[0])
        time.sleep(work.pause() * 2)
    client.flush(_PATIENCE_SECONDS)


def transactional(work: Work) -> None:
    """A producer in transactions; whatever goes wrong in one ends the process."""
    client = KafkaProducer(
        bootstrap_servers=work.task.bootstrap,
        client_id=work.task.name,
        transactional_id=work.task.name.partition(".")[0],
        transaction_timeout_ms=TRANSACTION_MS,
        **_QUICK,
    )
    client.init_transactions()
    while work.goes_on():
        client.begin_transaction()
        transaction = work.value()
        count = work.dice.randrange(1, 10)
        sent = [_send(work, client, work.dice.choice(SOURCES), transaction=transaction) for _ in range(count)]
        commit = work.dice.random() < 0.8
        decision = Decision.COMMIT if commit else Decision.ABORT
        operation = work.recorder.begin("decide", transaction=transaction, decision=decision)
        (client.commit_transaction if commit else client.abort_transaction)()
        # A refused send makes kafka-python 3.0 take a new epoch, and it then calls a transaction committed that the
        # coordinator has aborted: it never asks for the end.
        is_sure = not (commit and any(future.failed() for future in sent))
        work.recorder.end(operation, Outcome.OK if is_sure else Outcome.UNKNOWN)
        time.sleep(work.pause())


class _Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, work: Work, client: KafkaConsumer) -> None:
        self._work, self._client = work, client

    def on_partitions_revoked(self, revoked: list[TopicPartition]) -> None:
        _commit(self._work, self._client)
        self._work.positions = {}

    def on_partitions_assigned(self, assigned: list[TopicPartition]) -> None:
        self._work.assigned([(found.topic, found.partition) for found in assigned])


def consumer(work: Work) -> None:
    """A member of a group that commits what it got, in read_committed."""
    client = KafkaConsumer(
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
    for topic in SOURCES:  # a leader that does not know the partitions assigns none, and may never look again
        client.partitions_for_topic(topic)
    client.subscribe(list(SOURCES), listener=_Listener(work, client))
    while work.goes_on():
        for partition, messages in client.poll(timeout_ms=200, max_records=50).items():
            for message in messages:
                work.polled(partition.topic, partition.partition, message.offset, message.value)
        _commit(work, client)
    client.close()


def _send(work: Work, client: KafkaProducer, topic: str, **more: Any) -> Any:
    partition, value = work.partition(), work.value()
    operation = work.recorder.begin("send", partition=f"{topic}-{partition}", value=value, **more)
    future = client.send(topic, value.encode(), partition=partition)
    future.add_callback(lambda told: work.recorder.end(operation, Outcome.OK, offset=told.offset))
    future.add_errback(lambda error: work.recorder.end(operation, Outcome.UNKNOWN, error=str(error)))
    return future


def _commit(work: Work, client: KafkaConsumer) -> None:
    work.tell_polls()
    if not work.positions:
        return
    operation = work.begin_commit()
    split = [(name.rpartition("-"), offset) for name, offset in work.positions.items()]
    offsets = {
        TopicPartition(topic, int(index)): OffsetAndMetadata(offset, "", -1) for (topic, _, index), offset in split
    }
    try:
        client.commit(offsets)
    except KafkaError as error:
        work.failed(error)
        work.end_commit(operation, Outcome.UNKNOWN)
    else:
        work.end_commit(operation, Outcome.OK)
