"""Commits what tasks have done: outputs first, then states, then the offsets of the inputs.

Exactly once, outputs, changelogs and offsets are one transaction, and a state whose commit did not reach the cluster is
undone when it is opened again. At least once, the offsets follow when all is acknowledged.
"""

import random
from collections.abc import Collection, Mapping
from typing import Final, Protocol

from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.producer.async_producer import AsyncProducer
from ottla.client.record import OffsetAndMetadata, TopicPartition
from ottla.streams.local.record_sender import RecordSender
from ottla.streams.local.task_run import TaskRun
from ottla.streams.local.task_store import COMMIT

Offsets = dict[TopicPartition, OffsetAndMetadata]
_ID_BITS: Final = 53


class OffsetWriter(Protocol):
    """The way of offsets to the group's coordinator."""

    async def write(self, offsets: Offsets) -> None:
        """Commits the offsets, after all that was sent before is durable."""
        ...


class TransactionWriter:
    """Commits offsets and everything that was sent as one transaction; the next one begins at once."""

    def __init__(self, consumer: AsyncConsumer, producer: AsyncProducer) -> None:
        self._consumer: Final = consumer
        self._producer: Final = producer

    async def write(self, offsets: Offsets) -> None:
        """Ends the transaction."""
        await self._producer.send_offsets_to_transaction(offsets, self._consumer.group_metadata())
        await self._producer.commit_transaction()
        self._producer.begin_transaction()


class CommitWriter:
    """Offsets are committed by themselves."""

    def __init__(self, consumer: AsyncConsumer) -> None:
        self._consumer: Final = consumer

    async def write(self, offsets: Offsets) -> None:
        """Commits."""
        await self._consumer.commit(offsets)


class Committing:
    """The commits of a process."""

    def __init__(self, consumer: AsyncConsumer, sender: RecordSender, writer: OffsetWriter) -> None:
        self._consumer: Final = consumer
        self._sender: Final = sender
        self._writer: Final = writer
        self.committed: Final[dict[TopicPartition, int]] = {}
        """What was committed last, by partition."""

    async def commit(self, runs: Collection[TaskRun]) -> bool:
        """Commits what these tasks have done; false: nothing."""
        if not runs:
            return False
        commit_id = random.getrandbits(_ID_BITS)
        await self._sender.flush()
        positions = self._consumer.positions()
        found = [(run, run.offsets(positions, commit_id)) for run in runs]
        given = [(run, offsets) for run, offsets in found if offsets]
        if not given:
            return False
        for run, offsets in given:
            self._keep_state(run, offsets, commit_id)
        await self._writer.write({place: offset for _, offsets in given for place, offset in offsets.items()})
        for run, offsets in given:
            run.committed(offsets)
            self.committed.update({place: offset.offset for place, offset in offsets.items()})
        return True

    def _keep_state(self, run: TaskRun, offsets: Mapping[TopicPartition, OffsetAndMetadata], commit_id: int) -> None:
        end = {place.topic: offset.offset for place, offset in offsets.items()}
        logged = {place.topic: self._sender.logged_offset(place) for place in run.stores.changelogs.values()}
        known = {topic: offset for topic, offset in logged.items() if offset is not None}
        run.stores.commit({**end, COMMIT: commit_id}, run.times(), known)
