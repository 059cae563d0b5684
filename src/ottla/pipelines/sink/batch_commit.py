"""Commits or aborts the transactions that the tasks of a micro-batch have prepared, on the driver.

The decision is durable before the first commit. From then on the batch will be committed, by this process or by the
one that repeats the batch; so nothing is aborted that has been decided, not even after a failure.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.client.producer.sequence import ProducerIdentity
from ottla.pipelines.option.parse import WriteOptions
from ottla.pipelines.sink.decision_offset import DecisionOffsets
from ottla.pipelines.sink.errors import SinkError
from ottla.pipelines.sink.exactly_once import TaskPrepared
from ottla.pipelines.sink.prepared_transaction import PreparedTransactions, SinkQuery
from ottla.pipelines.sink.transaction import SinkTransaction
from ottla.pipelines.sink.worker_cluster import worker_cluster

_log = logging.getLogger(__name__)


class BatchCommit:
    """The end of one micro-batch."""

    def __init__(self, options: WriteOptions, query: SinkQuery, batch_id: int) -> None:
        self._worker: Final = worker_cluster(options.settings)
        self._query: Final = query
        self._batch_id: Final = batch_id
        self._log: Final = DecisionOffsets(self._worker.cluster, self._worker.client, query)

    def commit(self, prepared: Sequence[TaskPrepared]) -> None:
        """Decides, then commits every transaction; `SinkError` if one is gone, which a repetition puts right."""
        self._worker.thread.run(self._commit(prepared))

    def abort(self, prepared: Sequence[TaskPrepared]) -> None:
        """Aborts what was prepared, unless the micro-batch has been decided. What can't be aborted times out."""
        try:
            self._worker.thread.run(self._abort(_transactions(prepared)))
        except OttlaError as error:
            _log.warning("transactions of batch %d of %s stay open: %s", self._batch_id, self._query.query_id, error)

    async def _commit(self, prepared: Sequence[TaskPrepared]) -> None:
        transactions = _transactions(prepared)
        if any(task.was_decided for task in prepared):
            # Tasks have committed what was theirs. There may be others: the batch may have had more tasks before.
            decided = (await self._log.decision()).transactions
            tasks = {found.task.partition_id for found in prepared}
            left = {number: identity for number, identity in decided.items() if number not in tasks}
            if transactions:
                await self._log.decide(self._batch_id, {**decided, **transactions})
            transactions.update(left)
        elif transactions:
            # Nothing is decided that can't be done: a batch of which a part is gone is repeated as a whole.
            await _all(self._check(number, identity) for number, identity in transactions.items())
            await self._log.decide(self._batch_id, transactions)
        await _all(self._commit_one(number, identity) for number, identity in transactions.items())

    async def _check(self, number: int, identity: ProducerIdentity) -> None:
        if await self._transaction(number, identity).is_open() or await self._log.written(number) == self._batch_id:
            return
        raise self._gone(number)

    async def _commit_one(self, number: int, identity: ProducerIdentity) -> None:
        if await self._transaction(number, identity).commit() or await self._log.written(number) == self._batch_id:
            return
        raise self._gone(number)

    def _gone(self, number: int) -> SinkError:
        return SinkError(
            f"the transaction {self._query.transactional_id(number)} of batch {self._batch_id} is gone: it took longer "
            "than 'kafka.transaction.timeout.ms', or a task or another run of the query that was believed dead is "
            "alive. Start the query again: what is missing of the batch will be written"
        )

    async def _abort(self, transactions: PreparedTransactions) -> None:
        if transactions and (await self._log.decision(transactions)).batch_id < self._batch_id:
            await _all(self._transaction(number, identity).abort() for number, identity in transactions.items())

    def _transaction(self, number: int, identity: ProducerIdentity) -> SinkTransaction:
        transactional_id = self._query.transactional_id(number)
        return SinkTransaction(self._worker.cluster, self._worker.client, transactional_id, identity)


def _transactions(prepared: Sequence[TaskPrepared]) -> PreparedTransactions:
    return {found.task.partition_id: found.transaction for found in prepared if found.transaction is not None}


async def _all(work: Any) -> None:
    """Everything, also after a failure; then the first failure."""
    coroutines: list[Coroutine[Any, Any, object]] = list(work)
    for result in await asyncio.gather(*coroutines, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
