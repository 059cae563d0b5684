"""PLAIN (RFC 4616): user and password, as they are. Only TLS keeps them secret."""

from collections.abc import Generator


def plain_exchange(username: str, password: str) -> Generator[bytes, bytes, None]:
    r"""The client's only message.

    >>> next(plain_exchange("alice", "secret"))
    b'\x00alice\x00secret'
    """
    yield b"\0" + username.encode() + b"\0" + password.encode()
