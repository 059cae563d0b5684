"""The sessions of brokers and the offsets that they have read: soft state of the active controller.

It is never in the log. A new controller starts every unfenced broker with a fresh session, so that no broker is fenced
for the time in which there was no controller. A broker whose session ends is fenced; one that shuts down may go once
every active broker has read past the records that moved its leaderships.
"""

from dataclasses import dataclass
from typing import Final

from ottla.metadata.image.cluster import BrokerRegistration

NOBODY_IS_BEHIND: Final = (1 << 63) - 1


@dataclass(slots=True)
class BrokerSession:
    """The session of one registered broker."""

    fenced: bool
    registration_offset: int
    metadata_offset: int = -1
    controlled_shutdown_offset: int = -1

    @property
    def is_shutting_down(self) -> bool:
        """Whether it waits for leave to stop."""
        return self.controlled_shutdown_offset >= 0


class BrokerSessions:
    """The sessions of all registered brokers."""

    def __init__(self, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._sessions: dict[int, BrokerSession] = {}
        self._contacts: dict[tuple[int, int], int] = {}

    def __getitem__(self, broker_id: int) -> BrokerSession:
        return self._sessions[broker_id]

    def __contains__(self, broker_id: int) -> bool:
        return broker_id in self._sessions

    def registered(self, broker: BrokerRegistration, offset: int) -> None:
        """A registration was written at `offset`; a broker has caught up once it has read that far."""
        self._sessions[broker.id] = BrokerSession(broker.fenced, offset)

    def changed(self, broker: BrokerRegistration) -> None:
        """A registration was changed: fenced, unfenced, shutting down, other directories."""
        session = self._sessions[broker.id]
        session.fenced = broker.fenced
        if broker.fenced:
            # A fenced broker has left controlled shutdown: with its next heartbeat it may stop at once.
            session.controlled_shutdown_offset = -1

    def unregistered(self, broker_id: int) -> None:
        """A broker is gone for good."""
        self._sessions.pop(broker_id, None)

    def heard(self, broker_id: int, epoch: int, now_ms: int) -> None:
        """A heartbeat came in."""
        self._contacts[broker_id, epoch] = max(now_ms, self._contacts.get((broker_id, epoch), now_ms))

    def ended(self, broker_id: int, epoch: int) -> None:
        """Notes that an incarnation was allowed to stop: its successor may register at once."""
        self._contacts.pop((broker_id, epoch), None)

    def postpone(self, late_ms: int, now_ms: int) -> None:
        """This node heard no broker for that long: each session lasts so much longer, up to one that begins now."""
        for key, contact in self._contacts.items():
            self._contacts[key] = min(contact + late_ms, now_ms)

    def is_alive(self, broker_id: int, epoch: int, now_ms: int) -> bool:
        """Whether that incarnation of the broker was heard within the session timeout."""
        contact = self._contacts.get((broker_id, epoch))
        return contact is not None and not self._is_expired(contact, now_ms)

    def take_expired(self, now_ms: int) -> tuple[int, int] | None:
        """The broker and epoch whose session ended longest ago, if any did; it is returned once."""
        oldest = min(self._contacts.items(), key=lambda item: (item[1], item[0]), default=None)
        if oldest is None or not self._is_expired(oldest[1], now_ms):
            return None
        del self._contacts[oldest[0]]
        return oldest[0]

    def next_expiry_ms(self) -> int:
        """The time at which the first session ends, without another heartbeat."""
        return min(self._contacts.values(), default=NOBODY_IS_BEHIND - self._timeout_ms) + self._timeout_ms + 1

    def read_up_to(self, broker_id: int, metadata_offset: int) -> None:
        """A broker has applied the metadata up to that offset."""
        self._sessions[broker_id].metadata_offset = metadata_offset

    def began_shutdown(self, broker_id: int, offset: int) -> None:
        """The records that move the broker's leaderships end at `offset`; only the first time counts."""
        session = self._sessions[broker_id]
        if not session.fenced and not session.is_shutting_down:
            session.controlled_shutdown_offset = offset

    def lowest_active_offset(self) -> int:
        """The lowest offset that an active broker has read up to."""
        offsets = [s.metadata_offset for s in self._sessions.values() if not s.fenced and not s.is_shutting_down]
        return min(offsets, default=NOBODY_IS_BEHIND)

    def _is_expired(self, contact_ms: int, now_ms: int) -> bool:
        return contact_ms + self._timeout_ms < now_ms
