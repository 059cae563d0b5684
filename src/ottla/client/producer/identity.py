"""A producer's identity to the brokers: InitProducerId, for producers without transactions.

Asked for when the first batch wants to leave, and again when an id's epochs are used up; until the answer is there
nothing is sent.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ottla.base.errors import OttlaError
from ottla.base.thread_owner import one_thread
from ottla.client.cluster.cluster_client import ANY_NODE, ClusterClient
from ottla.client.producer.batch import PartitionQueue
from ottla.client.producer.sequence import ProducerIdentity, SequenceLedger
from ottla.protocol.errors import error_for
from ottla.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

_log = logging.getLogger(__name__)
_NO_TRANSACTION_TIMEOUT_MS: Final = 2**31 - 1


class OpenGate:
    """The gate of a producer without an id: always open."""

    uses_transactions_v2: Final = False

    def before_run(self) -> bool:
        """Anything may be sent."""
        return True

    def may_send(self, queue: PartitionQueue) -> bool:
        """Every partition may be written to."""
        return True


@one_thread
class IdempotentGate:
    """The gate of an idempotent producer: open while it has an id."""

    uses_transactions_v2: Final = False

    def __init__(self, cluster: ClusterClient, ledger: SequenceLedger, on_fatal: Callable[[Exception], None]) -> None:
        self._cluster: Final = cluster
        self._ledger: Final = ledger
        self._on_fatal: Final = on_fatal
        self._task: asyncio.Task[None] | None = None
        self.run_sender: Callable[[], None] = lambda: None

    def before_run(self) -> bool:
        """Whether there is an id; asks for one if not."""
        self._ledger.resolve()
        self._ledger.bump_if_needed()
        if not self._ledger.needs_identity:
            return True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._ask())
        return False

    def may_send(self, queue: PartitionQueue) -> bool:
        """Every partition may be written to."""
        return True

    async def close(self) -> None:
        """Cancels the request for an id."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,))

    async def _ask(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=_NO_TRANSACTION_TIMEOUT_MS)
        failures = 0
        while True:
            try:
                response = await self._cluster.request(ANY_NODE, request)
                assert isinstance(response, InitProducerIdResponse)
                if not response.error_code:
                    break
                raise error_for(response.error_code)
            except OttlaError as error:
                if not getattr(error, "retriable", False):
                    self._task = None
                    self._on_fatal(error)
                    return
                _log.debug("no producer id yet: %s", error)
            await asyncio.sleep(self._cluster.backoff.delay_ms(failures) / 1000)
            failures += 1
        self._task = None
        self._ledger.adopt_new(ProducerIdentity(response.producer_id, response.producer_epoch))
        self.run_sender()
