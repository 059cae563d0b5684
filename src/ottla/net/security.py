"""The demands of a listener on its clients before it serves them: TLS, a log-in, or both."""

from collections.abc import Callable
from typing import TypeAlias

from ottla.base.frozen import frozen
from ottla.net.apart import Runner
from ottla.net.sasl.login import LoginRules
from ottla.net.tls.server import TlsServer


@frozen
class Recognised:
    """A client's proven identity, for principal builders."""

    principal: str
    """The default principal: `User:alice`."""
    host: str
    """The client's address."""
    listener: str
    mechanism: str | None = None
    """By which it logged in; None if only its certificate names it."""
    certificate: bytes | None = None
    """The client's certificate in DER, where it has shown one."""


NamePrincipal: TypeAlias = Callable[[Recognised], str]


@frozen(kw_only=True)
class ListenerSecurity:
    """Given to a listener; without it every connection is served at once."""

    tls: TlsServer | None = None
    login: LoginRules | None = None
    failure_delay_ms: int = 100
    """`connection.failed.authentication.delay.ms`: who failed waits, against guessing."""
    login_bytes_max: int = 524_288
    """`sasl.server.max.receive.size`: a larger frame before the end of the log-in closes the connection."""
    login_ms_max: int = 60_000
    """A client that has not finished handshake and log-in by then is disconnected."""
    apart: Runner | None = None
    """Handles log-ins beside the loop: an operator's class has a say in them, or keys are derived from passwords."""
    name_principal: NamePrincipal | None = None
    """The operator's class that makes principals, which runs apart."""
    now_ms: Callable[[], int]
    """The time of day, which tokens end by."""
    ends: tuple[Callable[[], None], ...] = ()
    """Ends the background work for the listener."""

    def close(self) -> None:
        """The listener is closed, or will not be opened."""
        if self.tls is not None:
            self.tls.close()
        for end in self.ends:
            end()
