"""Decides when a classic member has to send a heartbeat, and its user to poll. Pure arithmetic on milliseconds."""

from ottla.client.consumer.group.member_config import MemberConfig


class HeartbeatTimer:
    """The three clocks of a member: heartbeats sent, heartbeats answered, polls."""

    def __init__(self, config: MemberConfig) -> None:
        self._config = config
        self._sent_ms = 0
        self._answered_ms = 0
        self.polled_ms = 0
        self.is_waiting = False

    def restart(self, now_ms: int) -> None:
        """The coordinator has just heard of us by a join."""
        self._sent_ms = self._answered_ms = now_ms
        self.is_waiting = False

    def sent(self, now_ms: int) -> None:
        """A heartbeat is on its way."""
        self._sent_ms = now_ms
        self.is_waiting = True

    def answered(self, now_ms: int) -> None:
        """It came back."""
        self._answered_ms = now_ms
        self.is_waiting = False

    def failed(self) -> None:
        """It did not come back; the next one is sent after the usual interval."""
        self.is_waiting = False

    def is_due(self, now_ms: int) -> bool:
        """Whether a heartbeat must be sent."""
        return not self.is_waiting and now_ms - self._sent_ms >= self._config.heartbeat_interval_ms

    def is_session_over(self, now_ms: int) -> bool:
        """Whether the coordinator has been silent for so long that it must be gone."""
        return now_ms - self._answered_ms > self._config.session_timeout_ms

    def is_poll_overdue(self, now_ms: int) -> bool:
        """Whether the user has forgotten us."""
        return now_ms - self.polled_ms > self._config.max_poll_interval_ms

    def next_ms(self, now_ms: int) -> int:
        """The latest time for the next look."""
        interval_ms = self._config.heartbeat_interval_ms
        beat_ms = now_ms + interval_ms if self.is_waiting else self._sent_ms + interval_ms
        return min(beat_ms, self.polled_ms + self._config.max_poll_interval_ms + 1)
