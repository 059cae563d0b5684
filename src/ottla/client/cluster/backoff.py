"""The pause before the next attempt: doubled each time, up to a limit, with a fifth of jitter.

The jitter keeps clients that lost the same broker from coming back all at once.
"""

from dataclasses import dataclass
from typing import Final

from ottla.base.dice import DICE
from ottla.base.errors import OttlaError
from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings

_JITTER: Final = 0.2
_DOUBLINGS_MAX: Final = 30


@frozen
class Backoff:
    """Growing pauses.

    >>> backoff = Backoff(100, 1_000)
    >>> 80 <= backoff.delay_ms(0) <= 120, 160 <= backoff.delay_ms(1) <= 240, 800 <= backoff.delay_ms(9) <= 1_200
    (True, True, True)
    """

    initial_ms: int
    max_ms: int

    @classmethod
    def of_retries(cls, settings: ClientSettings) -> "Backoff":
        """`retry.backoff.ms` to `retry.backoff.max.ms`."""
        return cls(settings.integer("retry.backoff.ms"), settings.integer("retry.backoff.max.ms"))

    @classmethod
    def of_connecting(cls, settings: ClientSettings) -> "Backoff":
        """`reconnect.backoff.ms` to `reconnect.backoff.max.ms`."""
        return cls(settings.integer("reconnect.backoff.ms"), settings.integer("reconnect.backoff.max.ms"))

    def delay_ms(self, failures: int) -> float:
        """The pause after `failures` failures before the one that has just happened."""
        highest = max(self.initial_ms, self.max_ms)
        wait_ms: int = min(self.initial_ms * 2 ** min(failures, _DOUBLINGS_MAX), highest)
        return wait_ms * DICE.uniform(1 - _JITTER, 1 + _JITTER)


@dataclass(slots=True)
class Trouble:
    """The number of failed attempts in a row to reach a node, and the loop's time before which not to try again."""

    failures: int = 0
    not_before: float = 0.0
    error: OttlaError | None = None
    """Why the last attempt failed; None after one that did not."""

    def add(self, backoff: Backoff, now: float) -> None:
        """Another failure."""
        self.not_before = now + backoff.delay_ms(self.failures) / 1000
        self.failures += 1
