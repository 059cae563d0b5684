"""confluent-kafka as an idempotent producer, a transactional one, a member of a group, and a transformer."""

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.torture.client.task import RESULTS, SESSION_MS, SOURCES, TRANSACTION_MS, Work
from tests.torture.history import Decision, Outcome

_IN_FLIGHT_MAX = 2_000
_PATIENCE_SECONDS = 10.0
_QUICK = {"reconnect.backoff.max.ms": 200, "retry.backoff.max.ms": 200, "socket.timeout.ms": 5_000}
_REFUSALS = {
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.FENCED_MEMBER_EPOCH,
    KafkaError.STALE_MEMBER_EPOCH,
}


def producer(work: Work) -> None:
    """An idempotent producer."""
    client = Producer(_settings(work) | {"enable.idempotence": True, "linger.ms": 2, "message.timeout.ms": 120_000})
    while work.goes_on():
        for _ in range(work.dice.randrange(1, 20)):
            _send(work, client, SOURCES[0])
        client.poll(0)
        time.sleep(work.pause() * 2 if len(client) < _IN_FLIGHT_MAX else 0.5)
    client.flush(_PATIENCE_SECONDS)


def transactional(work: Work) -> None:
    """A producer in transactions, most of which it commits."""
    client = _transactional(work)
    while work.goes_on():
        client.begin_transaction()
        transaction = work.value()
        for _ in range(work.dice.randrange(1, 20)):
            _send(work, client, work.dice.choice(SOURCES), transaction=transaction)
            client.poll(work.pause() if work.dice.random() < 0.1 else 0)
        commit = work.dice.random() < 0.8
        _decide(work, client, transaction, Decision.COMMIT if commit else Decision.ABORT)
        time.sleep(work.pause())


def consumer(work: Work) -> None:
    """A member of a group that commits what it got, in read_committed."""
    client = _member(work, lambda: _commit(work, client))
    while work.goes_on():
        _poll(work, client, 50)
        _commit(work, client)
    client.close()


def transformer(work: Work) -> None:
    """Writes a result for each record, in transactions together with its group's offsets."""
    disturbed = []
    client = _member(work, lambda: disturbed.append(True))
    output = _transactional(work)
    while work.goes_on():
        output.begin_transaction()
        transaction = work.value()
        disturbed.clear()
        _transform(work, client, output, transaction)
        fits = not disturbed and _send_offsets(work, client, output, transaction)
        if not _decide(work, output, transaction, Decision.COMMIT if fits else Decision.ABORT):
            _rewind(work, client)
    client.close()


def _transform(work: Work, client: Consumer, output: Producer, transaction: str) -> None:
    for message in _poll(work, client, work.dice.randrange(1, 40)):
        source = (work.task.identity, f"{message.topic()}-{message.partition()}", message.offset())
        _send(work, output, RESULTS, transaction=transaction, source=source)
    output.poll(0)


def _send_offsets(work: Work, client: Consumer, output: Producer, transaction: str) -> bool:
    if not work.positions:
        return True
    operation = work.begin_commit(transaction)
    offsets = _offsets(work)
    try:
        output.send_offsets_to_transaction(offsets, client.consumer_group_metadata(), _PATIENCE_SECONDS)
    except KafkaException as error:
        if error.args[0].fatal():
            raise
        work.failed(error)
        work.end_commit(operation, Outcome.UNKNOWN)
        return False
    work.end_commit(operation, Outcome.OK)
    return True


def _rewind(work: Work, client: Consumer) -> None:
    """Back to what the group has committed, for everything that this member owns."""
    work.tell_polls()
    work.positions = {}
    owned = client.assignment()
    while owned and work.goes_on():
        work.assigned([(found.topic, found.partition) for found in owned])
        try:
            for found in client.committed(owned, timeout=5):
                client.seek(TopicPartition(found.topic, found.partition, max(found.offset, 0)))
            return
        except KafkaException as error:
            work.failed(error)
            client.poll(0.2)
            owned = client.assignment()


def _settings(work: Work) -> dict[str, Any]:
    return {"bootstrap.servers": work.task.bootstrap, "client.id": work.task.name} | _QUICK | work.task.settings


def _transactional(work: Work) -> Producer:
    own: dict[str, Any] = {
        "transactional.id": work.task.name.partition(".")[0],
        "transaction.timeout.ms": TRANSACTION_MS,
    }
    settings = {name: value for name, value in work.task.settings.items() if not name.startswith("group.")}
    common = {"bootstrap.servers": work.task.bootstrap, "client.id": work.task.name} | _QUICK
    # With "rebootstrap" librdkafka 2.16 may lose an offset commit that was under way, and wait for it for ever.
    own |= {
        "transaction.timeout.ms": TRANSACTION_MS,
        "message.timeout.ms": TRANSACTION_MS,
        "linger.ms": 1,
        "metadata.recovery.strategy": "none",
    }
    client = Producer(common | own | settings)
    work.goes_on()
    client.init_transactions(15)
    return client


def _send(work: Work, client: Producer, topic: str, **more: Any) -> None:
    partition, value = work.partition(), work.value()
    operation = work.recorder.begin("send", partition=f"{topic}-{partition}", value=value, **more)

    def delivered(error: KafkaError | None, message: Any) -> None:
        if error is None:
            where = {"offset": message.offset()} if message.offset() >= 0 else {}
            work.recorder.end(operation, Outcome.OK, **where)
        else:
            work.recorder.end(operation, Outcome.UNKNOWN, error=str(error))

    client.produce(topic, value, partition=partition, on_delivery=delivered)


def _decide(work: Work, client: Producer, transaction: str, decision: Decision) -> bool:
    """Ends a transaction; whether it was committed. Errors that nothing helps against end the process."""
    operation = work.recorder.begin("decide", transaction=transaction, decision=decision)
    ending = client.commit_transaction if decision is Decision.COMMIT else client.abort_transaction
    while True:
        try:
            ending(_PATIENCE_SECONDS)
        except KafkaException as error:
            reason = error.args[0]
            work.failed(error)
            if reason.retriable():
                continue
            work.recorder.end(operation, Outcome.UNKNOWN, error=str(error))
            if reason.txn_requires_abort() and decision is Decision.COMMIT:
                return _decide(work, client, transaction, Decision.ABORT)
            raise
        work.recorder.end(operation, Outcome.OK)
        return decision is Decision.COMMIT


def _member(work: Work, before_revocation: Callable[[], object]) -> Consumer:
    own: dict[str, Any] = {
        "group.id": work.task.identity,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    }
    if work.task.settings.get("group.protocol") != "consumer":
        own |= {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 500}
    client = Consumer(_settings(work) | own)

    def assigned(_: Consumer, partitions: list[TopicPartition]) -> None:
        work.tell_polls()
        work.assigned([(found.topic, found.partition) for found in partitions])

    def revoked(_: Consumer, partitions: list[TopicPartition]) -> None:
        work.tell_polls()
        before_revocation()
        for found in partitions:
            work.positions.pop(f"{found.topic}-{found.partition}", None)

    client.subscribe(list(SOURCES), on_assign=assigned, on_revoke=revoked, on_lost=revoked)
    return client


def _poll(work: Work, client: Consumer, count: int) -> list[Any]:
    """Up to so many records, fewer if no more come at once."""
    messages: list[Any] = []
    while len(messages) < count and not work.is_over:
        message = client.poll(0.05 if messages else 0.2)
        if message is None:
            break
        if message.error() is not None:
            work.failed(message.error())
            continue
        work.polled(message.topic(), message.partition(), message.offset(), message.value())
        messages.append(message)
    work.tell_polls()
    return messages


def _offsets(work: Work) -> list[TopicPartition]:
    split = [(name.rpartition("-"), offset) for name, offset in work.positions.items()]
    return [TopicPartition(topic, int(index), offset) for (topic, _, index), offset in split]


def _commit(work: Work, client: Consumer) -> None:
    if not work.positions:
        return
    operation = work.begin_commit()
    try:
        client.commit(offsets=_offsets(work), asynchronous=False)
    except KafkaException as error:
        refused = error.args[0].code() in _REFUSALS
        work.failed(error)
        work.end_commit(operation, Outcome.FAIL if refused else Outcome.UNKNOWN)
    else:
        work.end_commit(operation, Outcome.OK)
