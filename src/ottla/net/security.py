"""What a listener asks of its clients before it serves them: TLS, a log-in, or both."""

from collections.abc import Callable

from ottla.base.frozen import frozen
from ottla.net.sasl.login import LoginRules
from ottla.net.tls.server import TlsServer


@frozen(kw_only=True)
class ListenerSecurity:
    """Given to a listener; without it everybody is served at once."""

    tls: TlsServer | None = None
    login: LoginRules | None = None
    failure_delay_ms: int = 100
    """`connection.failed.authentication.delay.ms`: who failed waits, against guessing."""
    login_bytes_max: int = 524_288
    """`sasl.server.max.receive.size`: a larger frame before the end of the log-in closes the connection."""
    login_ms_max: int = 60_000
    """Who has not shaken hands and logged in by then is sent away."""
    now_ms: Callable[[], int]
    """The time of day, which tokens end by."""
    ends: tuple[Callable[[], None], ...] = ()
    """What ends the work that goes on for the listener beside it."""

    def close(self) -> None:
        """The listener is closed, or will not be opened."""
        if self.tls is not None:
            self.tls.close()
        for end in self.ends:
            end()
