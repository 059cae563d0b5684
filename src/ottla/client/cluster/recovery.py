"""Decides when a client drops the brokers it knows and begins again with the bootstrap addresses.

Kafka's rules: at once when none of them can be connected to (KIP-899), and after a while when they can but don't answer
for Metadata, or when one of them says so (KIP-1102).
"""

from typing import Final

from ottla.base.errors import OttlaError
from ottla.client.config.settings import ClientSettings
from ottla.protocol.errors import RebootstrapRequiredError

_SAY_AGAIN_S: Final = 60.0


class Recovery:
    """Watches how questions for Metadata go."""

    def __init__(self, settings: ClientSettings) -> None:
        self.may_rebootstrap: Final = settings.string("metadata.recovery.strategy").lower() == "rebootstrap"
        """Whether the user allows it."""
        self._patience_s: Final = settings.integer("metadata.recovery.rebootstrap.trigger.ms") / 1000
        self._failing_since: float | None = None
        self._said: tuple[str, float] | None = None

    def answered(self) -> None:
        """All is well."""
        self._failing_since = None

    def is_due(self, error: OttlaError, now: float) -> bool:
        """A question failed at `now`: whether it is time to begin again."""
        if self._failing_since is None:
            self._failing_since = now
        is_asked_to = isinstance(error, RebootstrapRequiredError)
        return self.may_rebootstrap and (is_asked_to or now - self._failing_since >= self._patience_s)

    def is_news(self, error: OttlaError, now: float) -> bool:
        """Whether the reason for beginning again is worth a line in the log: it lasts, and is tried all the time."""
        text = str(error)
        if self._said is not None and self._said[0] == text and now - self._said[1] < _SAY_AGAIN_S:
            return False
        self._said = text, now
        return True
