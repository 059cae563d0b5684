"""Whether a port is free, asked before a node is started on it, so that the answer can say what to do instead."""

import socket


def is_free(host: str, port: int) -> bool:
    """Whether this process could listen on the address now; 0 always is free."""
    if port == 0:
        return True
    for family, kind, protocol, _, address in socket.getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    ):
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind(address)
            except OSError:
                return False
    return True


def free_port(host: str, preferred: int) -> int:
    """`preferred` if it is free, else one that the system picks."""
    if 0 < preferred <= 65_535 and is_free(host, preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
