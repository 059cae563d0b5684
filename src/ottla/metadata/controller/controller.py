"""The controller of one node: idle until the quorum elects it, then the only one who decides.

While active it works on an image that has everything it wrote, committed or not, so that operations don't wait for
each other; answers wait until what they say is committed. If the leadership goes, all of that is thrown away: pending
answers fail with NOT_CONTROLLER and the committed image, which the loader keeps, is what the next one starts from.

It does no I/O and has no clock: who drives it says what time it is, when records are committed and who leads.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.bootstrap import activation_records, transaction
from ottla.metadata.controller.broker_heartbeat import fence_stale_broker
from ottla.metadata.controller.broker_session import BrokerSessions
from ottla.metadata.controller.context import MIN_IN_SYNC_REPLICAS, Caller, ControllerContext, ControllerPorts
from ottla.metadata.controller.operation import OPERATIONS
from ottla.metadata.controller.outcome import RECORDS_PER_BATCH_MAX, Outcome
from ottla.metadata.controller.periodic_task import Schedule, periodic_tasks
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.controller.topic_index import TopicIndex
from ottla.metadata.error import MetadataError
from ottla.metadata.image.config import CLUSTER_DEFAULT
from ottla.metadata.image.metadata_delta import MetadataDelta, apply_records
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError, NotControllerError
from ottla.protocol.metadata_log.broker import RegisterBrokerRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

NOBODY: Final = Caller()
_BRACKETS: Final = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)


@dataclass(slots=True)
class _Term:
    """What an active controller has, for as long as it is active."""

    epoch: int
    image: MetadataImage
    index: TopicIndex
    sessions: BrokerSessions
    schedule: Schedule


class Controller:
    """Takes requests, writes records through the quorum, answers once they are committed."""

    def __init__(
        self, settings: ControllerSettings, ports: ControllerPorts, bootstrap: Sequence[VersionedRecord] = ()
    ) -> None:
        self._settings = settings
        self._ports = ports
        self._bootstrap = bootstrap
        self._term: _Term | None = None
        self._pending: deque[tuple[int, Answer, Any]] = deque()

    @property
    def is_active(self) -> bool:
        """Whether this node is the one that decides."""
        return self._term is not None

    @property
    def image(self) -> MetadataImage:
        """The image with all that was written, committed or not; `NotControllerError` if not active."""
        return self._active().image

    def claim(self, epoch: int, image: MetadataImage, now_ms: int, *, in_transaction: bool = False) -> None:
        """This node was elected for `epoch`.

        `image` must hold every record before that epoch, all of them committed by now; `in_transaction` says whether
        they end within a metadata transaction, which is aborted.
        """
        if self._term is not None:
            self.renounce()
        sessions = BrokerSessions(self._settings.broker_session_timeout_ms)
        for broker in image.cluster.brokers.values():
            # The epoch is the offset that was next when the broker registered: no later than the record itself.
            sessions.registered(broker, broker.epoch)
            if not broker.fenced:
                sessions.heard(broker.id, broker.epoch, now_ms)
        schedule = Schedule(periodic_tasks(self._settings), now_ms)
        self._term = _Term(epoch, image, TopicIndex(image.topics), sessions, schedule)
        min_isr = self._ports.schema.default(CLUSTER_DEFAULT, MIN_IN_SYNC_REPLICAS) or "1"
        self._write(activation_records(image.features, self._bootstrap, min_isr, in_transaction=in_transaction), now_ms)

    def renounce(self) -> None:
        """This node leads no longer: what was pending fails, and what was not committed never was."""
        self._term = None
        pending, self._pending = self._pending, deque()
        for _, answer, _ in pending:
            answer.refuse(self._not_controller())

    def committed(self, offset: int) -> None:
        """Records up to `offset` are committed: answers that waited for them are given."""
        while self._pending and self._pending[0][0] <= offset:
            _, answer, response = self._pending.popleft()
            answer.give(response)

    def submit(self, request: Request, now_ms: int, caller: Caller = NOBODY) -> Answer:
        """Carries out a request; a refusal of the whole request is the answer's error."""
        operation = OPERATIONS[type(request)]
        return self._run(lambda context: operation(context, request, caller), now_ms)

    def tick(self, now_ms: int) -> None:
        """Does what is due: fences brokers that fell silent, runs periodic tasks."""
        try:
            self._do_what_is_due(now_ms)
        except NotControllerError:
            # Nobody waits for an answer, and `_perform` has renounced.
            return

    @property
    def next_tick_ms(self) -> int | None:
        """When `tick` has something to do, if nothing happens before; None if not active."""
        if self._term is None:
            return None
        return min(self._term.schedule.next_ms, self._term.sessions.next_expiry_ms())

    def _do_what_is_due(self, now_ms: int) -> None:
        if self._term is None:
            return
        term = self._term
        for broker_id, epoch in term.sessions.take_expired(now_ms):
            self._perform(partial(fence_stale_broker, broker_id=broker_id, epoch=epoch), now_ms)
        for task in term.schedule.due(now_ms):
            outcome, _ = self._perform(task.run, now_ms)
            term.schedule.ran(task, now_ms, more_to_do=outcome.response)

    def _run(self, operation: Callable[[ControllerContext], Outcome[Any]], now_ms: int) -> Answer:
        answer = Answer()
        try:
            outcome, offset = self._perform(operation, now_ms)
        except ApiError as error:
            answer.refuse(error)
        else:
            self._answer_when_committed(answer, outcome, offset)
        return answer

    def _perform(self, operation: Callable[[ControllerContext], Outcome[Any]], now_ms: int) -> tuple[Outcome[Any], int]:
        """Decides, applies and appends; returns the outcome and the last offset written."""
        outcome = operation(self._context(self._active(), now_ms))
        try:
            offset = self._write(outcome.records, now_ms)
        except NotControllerError:
            # The quorum refused: it has a new leader and will say so in a moment.
            self.renounce()
            raise
        if outcome.after_append is not None:
            outcome.after_append(offset)
        return outcome, offset

    def _answer_when_committed(self, answer: Answer, outcome: Outcome[Any], offset: int) -> None:
        if outcome.records:
            self._pending.append((offset, answer, outcome.response))
        elif self._pending:
            # A read of what is not committed yet must not be heard of before it is.
            self._pending.append((self._pending[-1][0], answer, outcome.response))
        else:
            answer.give(outcome.response)

    def _write(self, records: Sequence[VersionedRecord], now_ms: int) -> int:
        """Applies and appends records in atomic batches and returns the last offset."""
        term = self._active()
        if len(records) > RECORDS_PER_BATCH_MAX and term.image.features.version.supports_transactions:
            records = transaction("Large operation", records)
        for start in range(0, len(records), RECORDS_PER_BATCH_MAX):
            self._write_batch(term, records[start : start + RECORDS_PER_BATCH_MAX], now_ms)
        return self._ports.quorum.end_offset() - 1

    def _write_batch(self, term: _Term, batch: Sequence[VersionedRecord], now_ms: int) -> None:
        """Applies before it appends: a record that cannot be applied must never get into the log."""
        base_offset = self._ports.quorum.end_offset()
        provenance = Provenance(base_offset + len(batch) - 1, term.epoch, now_ms)
        records = [record for record, _ in batch if not isinstance(record, _BRACKETS)]
        image, delta = apply_records(term.image, records, provenance)
        last_offset = self._ports.quorum.append(term.epoch, batch)
        if last_offset != provenance.offset:
            # Broker epochs and what brokers must have read are offsets: a wrong one would fence the wrong broker.
            raise MetadataError(f"the batch was to end at {provenance.offset}, but the log has it end at {last_offset}")
        term.image = image
        term.index.update(delta.topics)
        self._brokers_changed(term, delta, [record for record, _ in batch], base_offset)

    @staticmethod
    def _brokers_changed(
        term: _Term, delta: MetadataDelta, records: Sequence[MetadataRecord], base_offset: int
    ) -> None:
        changes = delta.cluster.brokers.changes
        if not changes:
            return
        registered = {
            record.broker_id: base_offset + place
            for place, record in enumerate(records)
            if isinstance(record, RegisterBrokerRecord)
        }
        for broker_id, broker in changes.items():
            if broker is None:
                term.sessions.unregistered(broker_id)
            elif broker_id in registered:
                term.sessions.registered(broker, registered[broker_id])
            else:
                term.sessions.changed(broker)

    def _context(self, term: _Term, now_ms: int) -> ControllerContext:
        return ControllerContext(term.image, term.index, term.sessions, self._settings, self._ports, now_ms, term.epoch)

    def _active(self) -> _Term:
        if self._term is None:
            raise self._not_controller()
        return self._term

    def _not_controller(self) -> NotControllerError:
        leader = self._ports.quorum.leader_id()
        if leader is None or leader == self._settings.node_id:
            return NotControllerError("No controller appears to be active.")
        return NotControllerError(f"The active controller appears to be node {leader}.")
