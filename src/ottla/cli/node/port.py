"""Whether a port is free, asked before a node is started on it, so that the answer can say what to do instead."""

import errno
import socket


def refusal(host: str, port: int) -> OSError | None:
    """Why this process could not listen on the address now; None if it could. A port of 0 is any free one."""
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except OSError as error:
        return error
    return None


def is_taken(error: OSError) -> bool:
    """Whether another process listens there, so that another port would do."""
    return error.errno == errno.EADDRINUSE


def free_port(host: str, preferred: int) -> int:
    """`preferred` if it is free, else one that the system picks."""
    if 0 < preferred <= 65_535 and refusal(host, preferred) is None:
        return preferred
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.bind(address)
        port: int = probe.getsockname()[1]
        return port
