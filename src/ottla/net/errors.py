"""Errors between two sockets, beyond those that the protocol has codes for."""

from ottla.base.errors import OttlaError
from ottla.protocol.errors import NetworkError


class ListenError(OttlaError):
    """An address that cannot be listened on."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(f"Socket server failed to bind to {host}:{port}: {reason}.")
        self.host = host
        self.port = port
        self.reason = reason


class InvalidFrameError(OttlaError):
    """A frame whose size no frame can have: the other side speaks something else, or means harm.

    >>> str(InvalidFrameError(int.from_bytes(b"GET ", "big"), 104857600))
    'a frame of 1195725856 bytes, where 1 to 104857600 are allowed: this looks like HTTP'
    """

    def __init__(self, size: int, size_max: int) -> None:
        super().__init__(f"a frame of {size} bytes, where 1 to {size_max} are allowed{_guess(size)}")
        self.size = size


class RegionEndedError(OttlaError):
    """A file is shorter than the region of it that was to be sent: the rest of the answer is lost."""


class LoginFailedError(OttlaError):
    """The other side does not accept who we say we are, or fails to prove who it is. Trying again won't help."""


class LoginRefusedError(LoginFailedError):
    """The node's answer, as the end of a sentence that begins with its name."""


class NoProofError(NetworkError):
    """The source of the credentials can't be reached now: a retry may help."""


def _guess(size: int) -> str:
    """The protocol that the first four bytes look like, to save an operator's time."""
    start = size.to_bytes(4, "big", signed=True)
    if start.startswith(b"\x16\x03"):
        return ": this looks like TLS"
    if start in (b"GET ", b"POST", b"HEAD", b"PUT ", b"OPTI", b"DELE", b"PRI "):
        return ": this looks like HTTP"
    return ""
