"""Producer ids for idempotent producers: blocks of them from the controller, handed out one by one (KIP-730).

An id is never given twice: the controller wrote the block to the metadata log before it answered, and what is left of
a block when the broker stops is lost. The next block is asked for while a tenth of the current one is left, so that
only the very first producers wait for the controller. A failed request is made again with the next question.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, CoordinatorLoadInProgressError, error_for
from ottla.protocol.messages.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse

if TYPE_CHECKING:
    from ottla.broker.quorum.controller_channel import ControllerChannel

PREFETCH_SHARE: Final = 0.9
"""How much of a block may be used up before the next one is asked for."""
WAITING_MAX: Final = 10_000
REQUEST_TIMEOUT_MS: Final = 30_000

ProducerIdDone: TypeAlias = Callable[[int | ApiError], None]
"""Called once with an id, or with why there is none."""


class ProducerIdSource:
    """The producer ids of one broker."""

    def __init__(self, controller: "ControllerChannel", node_id: int, broker_epoch: Callable[[], int]) -> None:
        """`broker_epoch` gives the epoch of this broker's registration, which the controller checks."""
        self._controller = controller
        self._node_id = node_id
        self._broker_epoch = broker_epoch
        self._next = self._end = self._prefetch_at = 0
        self._following: range | None = None
        self._is_asking = False
        self._waiting: deque[ProducerIdDone] = deque()

    def next(self, done: ProducerIdDone) -> None:
        """Hands an id to `done`: within this call if one is at hand, else once the controller has answered."""
        if self._next == self._end and self._following is not None:
            self._take(self._following)
            self._following = None
        if self._next == self._end:
            if len(self._waiting) >= WAITING_MAX:
                done(CoordinatorLoadInProgressError("Too many producers wait for an id already"))
                return
            self._waiting.append(done)
            self._ask()
            return
        producer_id = self._next
        self._next += 1
        if self._next >= self._prefetch_at and self._following is None:
            self._ask()
        done(producer_id)

    def _take(self, block: range) -> None:
        self._next, self._end = block.start, block.stop
        self._prefetch_at = block.start + int(len(block) * PREFETCH_SHARE)

    def _ask(self) -> None:
        if self._is_asking:
            return
        self._is_asking = True
        request = AllocateProducerIdsRequest(broker_id=self._node_id, broker_epoch=self._broker_epoch())
        self._controller.send(request, self._answered, timeout_ms=REQUEST_TIMEOUT_MS)

    def _answered(self, answer: Response | ApiError) -> None:
        self._is_asking = False
        if isinstance(answer, AllocateProducerIdsResponse) and not answer.error_code and answer.producer_id_len > 0:
            self._following = range(answer.producer_id_start, answer.producer_id_start + answer.producer_id_len)
            self._serve_waiting()
            return
        waiting, self._waiting = self._waiting, deque()
        for done in waiting:
            done(_refusal(answer))

    def _serve_waiting(self) -> None:
        """Serves the waiting requests in their order; those beyond the block wait for the next."""
        waiting, self._waiting = self._waiting, deque()
        for done in waiting:
            self.next(done)


def _refusal(answer: Response | ApiError) -> ApiError:
    """The producer's error: it retries after COORDINATOR_LOAD_IN_PROGRESS, as with Apache Kafka."""
    if isinstance(answer, AllocateProducerIdsResponse) and answer.error_code:
        cause: object = error_for(answer.error_code)
    else:
        cause = answer
    return CoordinatorLoadInProgressError(f"The controller gave no producer ids: {cause}")
