"""A listener that is bound before it is started: clients can dial, and are served from the start on."""

import socket
import struct

from ottla.net.limits import ListenerLimits
from ottla.net.listener import Listener
from tests.integration.net.served import PATIENCE_S, Echo, Served


def bound(served: Served) -> Listener:
    listener = Listener("BOUND", "127.0.0.1", 0, served.listener.handler, served.poller, ListenerLimits())
    served.call(listener.bind)
    served.listeners.append(listener)
    return listener


def test_clients_wait_until_the_start() -> None:
    with Served(Echo()) as served:
        listener = bound(served)
        with socket.create_connection(listener.address, timeout=PATIENCE_S) as client:
            client.sendall(struct.pack(">i", 5) + b"hello")
            assert served.call(lambda: listener.connection_count) == 0
            served.call(listener.start)
            assert client.recv(9, socket.MSG_WAITALL) == struct.pack(">i", 5) + b"hello"


def test_one_that_was_never_started_frees_its_address() -> None:
    with Served(Echo()) as served:
        listener = bound(served)
        address = listener.address
        served.call(listener.stop_accepting)
        with socket.socket() as another:
            another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            another.bind(address)
