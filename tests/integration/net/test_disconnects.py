"""Disconnects: told exactly once, whoever ended the connection and whenever."""

import socket
import struct
from collections.abc import Callable

import pytest

from ottla.base.errors import OttlaError
from ottla.net.channel import Exchange
from ottla.net.connection import Connection
from tests.integration.net.served import Echo, Handler, Served, framed, is_closed_by_server, receive_frame


def leave(client: socket.socket) -> None:
    client.close()


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def leave_in_a_frame(client: socket.socket) -> None:
    client.sendall(framed(b"never complete")[:-3])
    client.close()


def leave_in_a_large_frame(client: socket.socket) -> None:
    client.sendall(framed(bytes(1_000_000))[:400_000])
    client.close()


@pytest.mark.parametrize("end", [leave, reset, leave_in_a_frame, leave_in_a_large_frame])
def test_a_client_that_leaves_is_gone_once(end: Callable[[socket.socket], None]) -> None:
    handler = Echo()
    with Served(handler) as served, served.connect() as other:
        remaining = handler.next_connection()
        client = served.connect()
        connection = handler.next_connection()
        end(client)
        assert handler.next_disconnected() is connection
        assert not connection.is_open
        served.call(lambda: connection.close("again"))
        other.sendall(framed(b"x"))
        assert receive_frame(other) == b"x"
        assert remaining.is_open
        assert served.call(lambda: served.poller.memory.used_bytes) == 0
        assert served.listener.connection_count == 1
    assert handler.next_disconnected() is remaining
    assert handler.disconnected_connections.empty()


def test_a_reset_is_noticed_while_a_request_waits() -> None:
    """With more frames behind the waiting one the connection is not read from: only the reset itself tells."""
    handler = Handler()
    with Served(handler) as served:
        client = served.connect()
        client.sendall(framed(b"1") + framed(b"2"))
        _, exchange = handler.next_request()
        client.sendall(framed(b"3"))
        reset(client)
        handler.next_disconnected()
        assert exchange.is_done
        assert handler.requests.empty()


@pytest.mark.parametrize("moment", ["connected", "received", "late"])
def test_the_server_closes(moment: str) -> None:
    class Closing(Handler):
        def connected(self, connection: Connection) -> None:
            super().connected(connection)
            if moment == "connected":
                connection.close("not welcome")

        def received(self, frame: memoryview, exchange: Exchange) -> None:
            if moment == "received":
                exchange.connection.close("no more")
                exchange.answer([framed(b"lost")])
            super().received(frame, exchange)

    handler = Closing()
    with Served(handler) as served, served.connect() as client:
        connection = handler.next_connection()
        if moment != "connected":
            client.sendall(framed(b"x") * 2)
            _, exchange = handler.next_request()
            served.call(lambda: exchange.close("late"))
        assert is_closed_by_server(client)
        assert handler.next_disconnected() is connection
    assert handler.disconnected_connections.empty()
    assert handler.requests.empty()


@pytest.mark.parametrize("error", [OttlaError("not welcome"), KeyError("bug")])
def test_a_handler_that_fails_on_a_new_client_loses_that_client(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Echo):
        def connected(self, connection: Connection) -> None:
            if self.connections.empty():
                super().connected(connection)
                raise error

    handler = Failing()
    with Served(handler) as served, served.connect() as client:
        assert is_closed_by_server(client)
        handler.next_disconnected()
        with served.connect() as other:
            other.sendall(framed(b"x"))
            assert receive_frame(other) == b"x"
    assert caplog.text


def test_closing_the_listener_ends_all_and_drops_what_waits() -> None:
    handler = Handler()
    with Served(handler) as served:
        clients = [served.connect() for _ in range(3)]
        for client in clients:
            client.sendall(framed(b"x"))
        exchanges = [handler.next_request()[1] for _ in clients]
        served.call(served.listener.close)
        for client in clients:
            assert is_closed_by_server(client)
            client.close()
        gone = {handler.next_disconnected() for _ in clients}
        assert gone == {exchange.connection for exchange in exchanges}
        for exchange in exchanges:
            served.call(exchange.no_answer)
    assert handler.disconnected_connections.empty()


def test_closing_the_poller_tells_of_disconnects_that_were_due() -> None:
    handler = Echo()
    served = Served(handler)
    with served.connect():
        connection = handler.next_connection()

        def close_all() -> None:
            served.listener.close()
            served.poller.close()

        served.call(close_all)
        assert handler.disconnected_connections.get_nowait() is connection
    served.thread.close()


def test_closing_twice_is_closing() -> None:
    handler = Echo()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"x"))
        assert receive_frame(client) == b"x"
        served.call(served.listener.close)
        served.call(served.listener.close)
        assert is_closed_by_server(client)


def test_many_clients_come_and_go() -> None:
    handler = Echo()
    with Served(handler) as served:
        for turn in range(300):
            client = served.connect()
            client.sendall(framed(b"%d" % turn))
            if turn % 3:
                assert receive_frame(client) == b"%d" % turn
            (reset if turn % 2 else leave)(client)
        gone = {handler.next_disconnected() for _ in range(300)}
        assert len(gone) == 300
        assert served.listener.connection_count == 0
    assert handler.disconnected_connections.empty()
