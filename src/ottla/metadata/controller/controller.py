"""The controller of one node: idle until the quorum elects it, then the only one who decides.

While active it works on an image that has everything it wrote, committed or not, so that operations don't wait for
each other; answers, refusals too, wait until all that was written before them is committed. If the leadership goes, all
of that is thrown away: pending answers fail with NOT_CONTROLLER and the committed image, which the loader keeps, is
what the next one starts from.

It does no I/O and has no clock: who drives it says what time it is, when records are committed and who leads. A node
that stood still heard nobody: that time counts for no broker's session.

An operation is in the log as a whole or not at all. One that breaks before its first batch is appended has changed
nothing. One that breaks later, whatever the reason, ends the term: the controller is idle when the exception comes out,
and its driver must give up the leadership, so that the next controller closes what was left open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ottla.base.collector import collector_off
from ottla.base.errors import OttlaError
from ottla.metadata.controller.answer import Answer, PendingAnswers
from ottla.metadata.controller.bootstrap import activation_records, is_transaction, transaction
from ottla.metadata.controller.broker.broker_heartbeat import fence_stale_broker
from ottla.metadata.controller.broker.broker_session import BrokerSessions
from ottla.metadata.controller.context import MIN_IN_SYNC_REPLICAS, Caller, ControllerContext, ControllerPorts
from ottla.metadata.controller.controller_result import RECORDS_PER_BATCH_MAX, ControllerResult
from ottla.metadata.controller.operation import OPERATIONS
from ottla.metadata.controller.periodic_task import Schedule, periodic_tasks
from ottla.metadata.controller.resource.token_index import TokenIndex
from ottla.metadata.controller.setting import ControllerSettings
from ottla.metadata.controller.topic.topic_index import TopicIndex
from ottla.metadata.errors import MetadataError
from ottla.metadata.image.config import CLUSTER_DEFAULT
from ottla.metadata.image.metadata_delta import MetadataDelta, apply_records
from ottla.metadata.image.metadata_image import MetadataImage, Provenance
from ottla.protocol.definition import Request
from ottla.protocol.errors import ApiError, NotControllerError, RequestTimedOutError
from ottla.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.protocol.metadata_log.broker import RegisterBrokerRecord
from ottla.protocol.metadata_log.log import VersionedRecord
from ottla.protocol.metadata_log.record import MetadataRecord
from ottla.protocol.metadata_log.transaction import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
)

NOBODY: Final = Caller()
TICK_INTERVAL_MS_MAX: Final = 500
"""Ticks are never planned further apart: the lateness of one tells how long the node stood still."""
ANSWER_TIMEOUT_MS_DEFAULT: Final = 60_000
"""How long an answer waits for its commit if the request says nothing."""
ANSWER_TIMEOUT_MS_MAX: Final = 600_000
"""How long an answer waits for its commit, whatever the request says."""
_BRACKETS: Final = (BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord)


@dataclass(slots=True)
class _Term:
    """The state of a controller while it is active."""

    epoch: int
    image: MetadataImage
    index: TopicIndex
    tokens: TokenIndex
    sessions: BrokerSessions
    schedule: Schedule
    last_written: int
    """The offset of the last record of `image`."""
    committed: int
    ticked_ms: int
    seen_ms: int
    """When the driver last called."""


class Controller:
    """Takes requests, writes records through the quorum, answers once they are committed."""

    def __init__(
        self, settings: ControllerSettings, ports: ControllerPorts, bootstrap: Sequence[VersionedRecord] = ()
    ) -> None:
        self._settings = settings
        self._ports = ports
        self._bootstrap = bootstrap
        self._term: _Term | None = None
        self._pending = PendingAnswers()

    @property
    def is_active(self) -> bool:
        """Whether this node is the one that decides."""
        return self._term is not None

    @property
    def image(self) -> MetadataImage:
        """The image with all that was written, committed or not; `NotControllerError` if not active."""
        return self._active().image

    def claim(self, epoch: int, image: MetadataImage, now_ms: int, *, in_transaction: bool = False) -> None:
        """Becomes active: this node was elected for `epoch`.

        `image` must hold every record before that epoch, all of them committed by now; `in_transaction` says whether
        they end within a metadata transaction, which is aborted. Raises `NotControllerError`, and stays idle, if the
        quorum has elected another node since; any other error leaves it idle too.
        """
        if self._term is not None:
            self.renounce()
        min_isr = self._ports.schema.default(CLUSTER_DEFAULT, MIN_IN_SYNC_REPLICAS) or "1"
        records = activation_records(image.features, self._bootstrap, min_isr, in_transaction=in_transaction)
        self._term = self._new_term(epoch, image, now_ms)
        try:
            self._write(records, now_ms)
        except OttlaError:
            self.renounce()
            raise

    def renounce(self) -> None:
        """This node leads no longer: what was pending fails, and what was not committed never was."""
        self._term = None
        self._pending.refuse_all(self._not_controller())

    def committed(self, offset: int) -> None:
        """Records up to `offset` are committed: answers that waited for them are given."""
        if self._term is not None:
            self._term.committed = max(self._term.committed, offset)
        self._pending.committed(offset)

    def submit(self, request: Request, now_ms: int, caller: Caller = NOBODY) -> Answer:
        """Carries out a request; a refusal of the whole request is the answer's error.

        A request whose own `timeout_ms` leaves it no time is not carried out at all.
        """
        answer = Answer()
        deadline_ms = now_ms + _timeout_ms(request)
        if deadline_ms <= now_ms:
            answer.refuse(RequestTimedOutError())
            return answer
        operation = OPERATIONS[type(request)]
        try:
            self._notice(self._active(), now_ms)
            outcome, offset = self._perform(lambda context: operation(context, request, caller), now_ms)
        except NotControllerError as error:
            answer.refuse(error)
        except ApiError as error:
            self._settle(self._active().last_written, deadline_ms, answer, partial(answer.refuse, error))
        else:
            self._settle(offset, deadline_ms, answer, partial(answer.give, outcome.response))
        return answer

    def heard(self, broker_id: int, epoch: int, now_ms: int) -> None:
        """A heartbeat of a broker came in, and will be submitted when its turn comes: its session goes on from now."""
        term = self._term
        if term is None:
            return
        self._notice(term, now_ms)
        broker = term.image.cluster.brokers.get(broker_id)
        if broker is not None and broker.epoch == epoch:
            term.sessions.heard(broker_id, epoch, now_ms)

    def tick(self, now_ms: int) -> int | None:
        """Does what is due: lets answers time out, fences a broker that fell silent and returns it, runs tasks.

        Only one broker is fenced at a time, which can take a while: those who were about to be heard are heard first.
        """
        try:
            return self._do_what_is_due(now_ms)
        except NotControllerError:
            # No caller waits for an answer, and `_perform` has renounced.
            return None

    @property
    def next_tick_ms(self) -> int | None:
        """The latest time for the next `tick`; None if not active.

        A time that is past says that there is more to do at once.
        """
        return None if self._term is None else self._next_tick_ms(self._term)

    def _new_term(self, epoch: int, image: MetadataImage, now_ms: int) -> _Term:
        sessions = BrokerSessions(self._settings.broker_session_timeout_ms)
        last_offset = image.provenance.offset
        for broker in image.cluster.brokers.values():
            # An image does not tell where in the log a broker registered: having read all of it is enough.
            sessions.registered(broker, last_offset)
            if not broker.fenced:
                sessions.heard(broker.id, broker.epoch, now_ms)
        return _Term(
            epoch,
            image,
            TopicIndex(image.topics),
            TokenIndex(self._settings.delegation_token_secret_key, image.delegation_tokens),
            sessions,
            Schedule(periodic_tasks(self._settings), now_ms),
            last_written=last_offset,
            committed=last_offset,
            ticked_ms=now_ms,
            seen_ms=now_ms,
        )

    def _next_tick_ms(self, term: _Term) -> int:
        return min(
            term.schedule.next_ms,
            term.sessions.next_expiry_ms(),
            self._pending.next_deadline_ms,
            term.ticked_ms + TICK_INTERVAL_MS_MAX,
        )

    def _notice(self, term: _Term, now_ms: int) -> None:
        """Time that went by while a tick was overdue counts for no session: this node was not listening.

        Planned for 500, the driver comes at 9,500: a broker last heard at 300 counts as heard at 9,300.
        """
        late_ms = now_ms - max(self._next_tick_ms(term), term.seen_ms)
        if late_ms > 0:
            term.sessions.postpone(late_ms, now_ms)
        term.seen_ms = max(term.seen_ms, now_ms)

    def _do_what_is_due(self, now_ms: int) -> int | None:
        if self._term is None:
            return None
        term = self._term
        self._notice(term, now_ms)
        term.ticked_ms = now_ms
        self._pending.expire(now_ms)
        fenced = None
        expired = term.sessions.take_expired(now_ms)
        if expired is not None:
            broker_id, epoch = expired
            outcome, _ = self._perform(partial(fence_stale_broker, broker_id=broker_id, epoch=epoch), now_ms)
            fenced = broker_id if outcome.records else None
        for task in term.schedule.due(now_ms):
            outcome, _ = self._perform(task.run, now_ms)
            term.schedule.ran(task, now_ms, more_to_do=outcome.response)
        return fenced

    def _perform(
        self, operation: Callable[[ControllerContext], ControllerResult[Any]], now_ms: int
    ) -> tuple[ControllerResult[Any], int]:
        """Decides, applies and appends; returns the outcome and the last offset written."""
        # A broker that comes or goes makes a record and more for each of its partitions, and the loop waits for it.
        with collector_off():
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

    def _settle(self, offset: int, deadline_ms: int, answer: Answer, settle: Callable[[], None]) -> None:
        """Settles an answer once `offset`, the last one written before it or by it, is committed."""
        if offset <= self._active().committed:
            settle()
        else:
            self._pending.add(offset, deadline_ms, answer, settle)

    def _write(self, records: Sequence[VersionedRecord], now_ms: int) -> int:
        """Applies and appends records in atomic batches and returns the last offset written, by them or before.

        Applies before it appends: a record that cannot be applied must never get into the log.
        """
        term = self._active()
        if not records:
            return term.last_written
        is_large = len(records) > RECORDS_PER_BATCH_MAX and not is_transaction(records)
        if is_large and term.image.features.version.supports_transactions:
            records = transaction("Large operation", records)
        base_offset = self._ports.quorum.end_offset()
        provenance = Provenance(base_offset + len(records) - 1, term.epoch, now_ms)
        plain = [record for record, _ in records if not isinstance(record, _BRACKETS)]
        image, delta = apply_records(term.image, plain, provenance)
        self._append(term, records, base_offset)
        term.image = image
        term.last_written = provenance.offset
        term.index.update(delta.topics)
        term.tokens.update(delta.delegation_tokens)
        self._brokers_changed(term, delta, [record for record, _ in records], base_offset)
        return term.last_written

    def _append(self, term: _Term, records: Sequence[VersionedRecord], base_offset: int) -> None:
        """Appends all batches; if not all of them get into the log, nothing may be written behind those that did."""
        appended = 0
        try:
            while appended < len(records):
                batch = records[appended : appended + RECORDS_PER_BATCH_MAX]
                last_offset = self._ports.quorum.append(term.epoch, batch)
                appended += len(batch)
                if last_offset != base_offset + appended - 1:
                    # Broker epochs and what brokers must have read are offsets: a wrong one would fence the wrong one.
                    self.renounce()
                    raise MetadataError(
                        f"the batch was to end at {base_offset + appended - 1}, but the log has it end at {last_offset}"
                    )
        finally:
            if 0 < appended < len(records):
                self.renounce()

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
        return ControllerContext(
            term.image, term.index, term.tokens, term.sessions, self._settings, self._ports, now_ms, term.epoch
        )

    def _active(self) -> _Term:
        if self._term is None:
            raise self._not_controller()
        return self._term

    def _not_controller(self) -> NotControllerError:
        leader = self._ports.quorum.leader_id()
        if leader is None or leader == self._settings.node_id:
            return NotControllerError("No controller appears to be active.")
        return NotControllerError(f"The active controller appears to be node {leader}.")


def _timeout_ms(request: Request) -> int:
    """The request's time-out. Kafka ignores that of a list of reassignments, which takes no time."""
    if isinstance(request, ListPartitionReassignmentsRequest):
        return ANSWER_TIMEOUT_MS_DEFAULT
    wanted: int = getattr(request, "timeout_ms", ANSWER_TIMEOUT_MS_DEFAULT)
    return min(wanted, ANSWER_TIMEOUT_MS_MAX)
