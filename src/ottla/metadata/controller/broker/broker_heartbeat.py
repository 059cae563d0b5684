"""BrokerHeartbeat: a broker says that it lives, and whether it wants to be fenced or to stop.

The next state follows from the current one, from what the broker wants, and from how far it and the others have read:

    fenced               wants to stop → may stop; does not want fencing and has read its registration → unfenced
    unfenced             wants fencing → fenced; wants to stop → controlled shutdown, or at once if it leads nothing
    controlled shutdown  leads nothing any more, and all active brokers have read so → may stop
"""

from enum import Enum, auto

from ottla.metadata.controller.broker.broker_fencing import (
    begin_controlled_shutdown,
    directories_cordoned,
    directories_offline,
    fence,
    leads_anything,
    unfence,
)
from ottla.metadata.controller.broker.broker_session import BrokerSession
from ottla.metadata.controller.context import ControllerContext
from ottla.metadata.controller.controller_result import ControllerResult
from ottla.protocol.errors import StaleBrokerEpochError
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.protocol.metadata_log.log import VersionedRecord


class BrokerState(Enum):
    """The states that the controller gives a broker."""

    FENCED = auto()
    UNFENCED = auto()
    CONTROLLED_SHUTDOWN = auto()
    SHUTDOWN_NOW = auto()

    @property
    def is_fenced(self) -> bool:
        """Whether a broker in this state may lead nothing."""
        return self in (BrokerState.FENCED, BrokerState.SHUTDOWN_NOW)


def broker_heartbeat(
    context: ControllerContext, request: BrokerHeartbeatRequest
) -> ControllerResult[BrokerHeartbeatResponse]:
    """One heartbeat: keeps the session, moves the broker's state, takes note of its directories."""
    broker_id = request.broker_id
    if broker_id not in context.sessions:
        raise StaleBrokerEpochError(f"Receive a heartbeat from broker {broker_id} before registration")
    context.check_broker_epoch(broker_id, request.broker_epoch)
    context.sessions.heard(broker_id, request.broker_epoch, context.now_ms)
    session = context.sessions[broker_id]
    current = current_state(session)
    next_state = _next_state(context, request, session)
    records = _note_directories(context, request)
    if next_state is not current:
        # After the directories: a broker that comes back without one must not be elected where it cannot serve.
        records += _enter(context.after(records) if records else context, broker_id, next_state)
    context.sessions.read_up_to(broker_id, request.current_metadata_offset)
    response = BrokerHeartbeatResponse(
        is_caught_up=request.current_metadata_offset >= session.registration_offset,
        is_fenced=next_state.is_fenced,
        should_shut_down=next_state is BrokerState.SHUTDOWN_NOW,
    )
    if next_state is BrokerState.CONTROLLED_SHUTDOWN:
        return ControllerResult(response, records, lambda offset: context.sessions.began_shutdown(broker_id, offset))
    if next_state is BrokerState.SHUTDOWN_NOW:
        return ControllerResult(
            response, records, lambda offset: context.sessions.ended(broker_id, request.broker_epoch)
        )
    return ControllerResult(response, records)


def current_state(session: BrokerSession) -> BrokerState:
    """The state that a broker is in."""
    if session.is_shutting_down:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.FENCED if session.fenced else BrokerState.UNFENCED


def fence_stale_broker(context: ControllerContext, broker_id: int, epoch: int) -> ControllerResult[None]:
    """A session has ended; a broker that is fenced already, gone or registered anew is left alone."""
    broker = context.image.cluster.brokers.get(broker_id)
    if broker is None or broker.epoch != epoch or broker.fenced:
        return ControllerResult(None)
    return ControllerResult(None, fence(context, broker))


def _next_state(context: ControllerContext, request: BrokerHeartbeatRequest, session: BrokerSession) -> BrokerState:
    current = current_state(session)
    if current is BrokerState.FENCED:
        if request.want_shut_down:
            return BrokerState.SHUTDOWN_NOW
        caught_up = request.current_metadata_offset >= session.registration_offset
        return BrokerState.UNFENCED if caught_up and not request.want_fence else BrokerState.FENCED
    if current is BrokerState.UNFENCED:
        if request.want_fence:
            return BrokerState.SHUTDOWN_NOW if request.want_shut_down else BrokerState.FENCED
        if not request.want_shut_down:
            return BrokerState.UNFENCED
        leads = leads_anything(context, request.broker_id)
        return BrokerState.CONTROLLED_SHUTDOWN if leads else BrokerState.SHUTDOWN_NOW
    if leads_anything(context, request.broker_id):
        return BrokerState.CONTROLLED_SHUTDOWN
    others_know = session.controlled_shutdown_offset <= context.sessions.lowest_active_offset()
    return BrokerState.SHUTDOWN_NOW if others_know else BrokerState.CONTROLLED_SHUTDOWN


def _note_directories(context: ControllerContext, request: BrokerHeartbeatRequest) -> list[VersionedRecord]:
    broker = context.image.cluster.brokers[request.broker_id]
    records: list[VersionedRecord] = []
    if context.version.supports_directory_assignment:
        records += directories_offline(context, broker, request.offline_log_dirs)
    if context.version.supports_cordoned_log_dirs:
        records += directories_cordoned(broker, request.cordoned_log_dirs)
    return records


def _enter(context: ControllerContext, broker_id: int, state: BrokerState) -> list[VersionedRecord]:
    broker = context.image.cluster.brokers[broker_id]
    if state is BrokerState.UNFENCED:
        return unfence(context, broker)
    if state is BrokerState.CONTROLLED_SHUTDOWN:
        return begin_controlled_shutdown(context, broker)
    return [] if broker.fenced else fence(context, broker)
