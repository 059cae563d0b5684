"""Limits: how many clients, from where, how long idle, how much memory."""

import contextlib
import logging
import os
import resource
import socket
import threading
from collections.abc import Iterator

import pytest

from ottla.net.channel import Exchange
from ottla.net.errors import ListenError
from ottla.net.limits import ListenerLimits, ServerLimits
from ottla.net.listener import Listener
from tests.integration.net.served import (
    PATIENCE_S,
    Echo,
    Handler,
    Served,
    framed,
    is_closed_by_server,
    receive_exactly,
    receive_frame,
)


def ask(client: socket.socket, word: bytes = b"hello") -> bytes:
    client.sendall(framed(word))
    return receive_frame(client)


def test_at_the_listeners_limit_clients_wait_until_one_leaves() -> None:
    handler = Echo()
    with (
        Served(handler, ListenerLimits(connections_max=2)) as served,
        served.connect() as first,
        served.connect() as second,
        served.connect() as third,
    ):
        third.sendall(framed(b"waiting"))
        assert ask(first) == ask(second) == b"hello"
        assert served.listener.connection_count == 2
        first.close()
        assert receive_frame(third) == b"waiting"


def test_a_raised_limit_lets_waiting_clients_in() -> None:
    with (
        Served(Echo(), ListenerLimits(connections_max=1)) as served,
        served.connect() as first,
        served.connect() as second,
    ):
        assert ask(first) == b"hello"
        second.sendall(framed(b"waiting"))

        def raise_limit() -> None:
            served.listener.limits = ListenerLimits(connections_max=2)

        served.call(raise_limit)
        assert receive_frame(second) == b"waiting"


def test_at_the_servers_limit_clients_of_all_listeners_wait() -> None:
    with Served(Echo(), server_limits=ServerLimits(connections_max=1)) as served:
        other = served.listen(Echo(), ListenerLimits())
        with served.connect() as first, served.connect(other) as second:
            second.sendall(framed(b"waiting"))
            assert ask(first) == b"hello"
            assert other.connection_count == 0
            first.close()
            assert receive_frame(second) == b"waiting"


def test_a_broker_takes_the_place_of_the_longest_idle_client() -> None:
    handler = Echo()
    with Served(handler, server_limits=ServerLimits(connections_max=2)) as served:
        brokers = served.listen(Echo(), ListenerLimits(is_inter_broker=True))
        with served.connect() as first, served.connect() as second:
            assert ask(first) == ask(second) == b"hello"
            with served.connect(brokers) as broker:
                assert ask(broker) == b"hello"
                assert is_closed_by_server(first)
                assert ask(second) == b"hello"


def test_an_address_with_too_many_connections_is_turned_away(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ottla.net")
    with (
        Served(Echo(), server_limits=ServerLimits(connections_per_ip_max=2)) as served,
        served.connect() as first,
        served.connect() as second,
        served.connect() as third,
    ):
        assert ask(first) == ask(second) == b"hello"
        assert is_closed_by_server(third)
    assert "rejected 127.0.0.1: the address has the maximum of 2 connections" in caplog.text


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_an_address_may_have_a_limit_of_its_own(name: str) -> None:
    limits = ServerLimits(connections_per_ip_max=0, connections_per_ip_overrides={name: 1, "no.such.host.invalid": 7})
    with (
        Served(Echo(), server_limits=limits) as served,
        served.connect() as first,
        served.connect() as second,
    ):
        assert ask(first) == b"hello"
        assert is_closed_by_server(second)

        def drop_limit() -> None:
            served.poller.limits = ServerLimits()

        served.call(drop_limit)
        with served.connect() as third:
            assert ask(third) == b"hello"


def test_idle_clients_are_closed_and_busy_ones_are_not() -> None:
    handler = Handler()
    with (
        Served(handler, ListenerLimits(idle_ms_max=700)) as served,
        served.connect() as idle,
        served.connect() as waiting,
        served.connect() as half,
    ):
        half.sendall(b"\0\0")
        waiting.sendall(framed(b"long poll"))
        _, exchange = handler.next_request()
        gone = {handler.next_disconnected().peer, handler.next_disconnected().peer}
        assert gone == {idle.getsockname(), half.getsockname()}
        served.call(lambda: exchange.answer([framed(b"here you are")]))
        assert receive_frame(waiting) == b"here you are"
        assert is_closed_by_server(waiting)


@pytest.mark.parametrize("frames_behind", [0, 1])
def test_a_client_that_left_while_it_waited_is_idle(frames_behind: int) -> None:
    """Its goodbye stands behind frames that must wait, or is not read because of the one that waits."""
    handler = Handler()
    with (
        Served(handler, ListenerLimits(idle_ms_max=300)) as served,
        served.connect() as stays,
        served.connect() as leaves,
    ):
        for client in (stays, leaves):
            client.sendall(framed(b"wait"))
            handler.next_request()
        leaves.sendall(framed(b"next") * frames_behind)
        peer = leaves.getsockname()
        leaves.close()
        assert handler.next_disconnected().peer == peer
        assert handler.disconnected_connections.empty()


def test_frames_before_a_goodbye_are_served() -> None:
    handler = Handler()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"1"))
        _, first = handler.next_request()
        client.sendall(framed(b"2"))
        client.shutdown(socket.SHUT_WR)
        while served.call(lambda: first.connection.is_busy):
            pass
        served.call(lambda: first.answer([framed(b"one")]))
        frame, second = handler.next_request()
        served.call(lambda: second.answer([framed(b"two")]))
        assert (frame, receive_frame(client), receive_frame(client)) == (b"2", b"one", b"two")
        assert is_closed_by_server(client)


def test_a_client_that_speaks_is_not_idle() -> None:
    handler = Echo()
    with Served(handler, ListenerLimits(idle_ms_max=1_000)) as served, served.connect() as talker, served.connect():
        while handler.disconnected_connections.empty():  # until the silent one is gone
            assert ask(talker) == b"hello"
        assert handler.next_disconnected().peer != talker.getsockname()
        assert ask(talker) == b"hello"


def test_no_idle_limit() -> None:
    handler = Echo()
    with Served(handler, ListenerLimits(idle_ms_max=-1)) as served, served.connect() as client:
        assert ask(client) == b"hello"

        def shorten() -> None:
            served.listener.limits = ListenerLimits(idle_ms_max=50)

        served.call(shorten)
        assert is_closed_by_server(client)


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """Room for some more descriptors than are open now, so that they can be used up."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 64, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
def test_when_descriptors_run_out_clients_wait(caplog: pytest.LogCaptureFixture) -> None:
    with (
        Served(Echo()) as served,
        served.connect() as before,
        socket.socket() as client,
    ):
        assert ask(before) == b"hello"
        client.settimeout(PATIENCE_S)
        taken: list[int] = []
        try:
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.dup(0))
            client.connect(served.listener.address)
            client.sendall(framed(b"waiting"))
            while "can accept no clients" not in caplog.text:
                assert ask(before) == b"hello"
        finally:
            for descriptor in taken:
                os.close(descriptor)
        assert receive_frame(client) == b"waiting"
    assert caplog.text.count("can accept no clients") == 1


@pytest.mark.usefixtures("few_descriptors")
def test_clients_leave_descriptors_for_files(caplog: pytest.LogCaptureFixture) -> None:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Served(Echo()) as served, contextlib.ExitStack() as clients:
        first = clients.enter_context(served.connect())
        assert ask(first) == b"hello"
        taken: list[int] = []
        try:
            # Clients are in the same process here, and have descriptors of their own.
            while not taken or taken[-1] < limit - limit // 8 - 1:
                taken.append(os.dup(0))
            waiting = clients.enter_context(served.connect())
            waiting.sendall(framed(b"waiting"))
            while "can accept no clients" not in caplog.text:
                assert ask(first) == b"hello"
            assert served.listener.connection_count == 1
        finally:
            for descriptor in taken:
                os.close(descriptor)
        assert receive_frame(waiting) == b"waiting"
    assert caplog.text.count("left are for files") == 1


def test_queued_requests_beyond_the_limit_wait_for_each_other() -> None:
    handler = Echo()
    size = 1_000_000
    with (
        Served(handler, server_limits=ServerLimits(queued_bytes_max=size)) as served,
        served.connect() as slow,
        served.connect() as other,
        served.connect() as small,
    ):
        assert ask(small) == b"hello"
        slow.sendall(framed(bytes(size))[:500_000])
        while served.call(lambda: served.poller.memory.used_bytes) < size:
            pass
        writer = threading.Thread(target=other.sendall, args=(framed(bytes(size)),))
        writer.start()
        small.sendall(framed(b"held up as well"))
        assert served.call(lambda: served.poller.memory.used_bytes) == size
        slow.sendall(framed(bytes(size))[500_000:])
        assert len(receive_frame(slow)) == size
        assert receive_frame(small) == b"held up as well"
        assert len(receive_frame(other)) == size
        writer.join()
        assert served.call(lambda: served.poller.memory.used_bytes) == 0


def test_a_client_that_leaves_frees_its_part_of_the_queue() -> None:
    with (
        Served(Echo(), server_limits=ServerLimits(queued_bytes_max=1_000_000)) as served,
        served.connect() as slow,
        served.connect() as other,
    ):
        slow.sendall(framed(bytes(1_000_000))[:500_000])
        while not served.call(lambda: served.poller.memory.is_full):
            pass
        other.sendall(framed(b"waiting"))
        slow.close()
        assert receive_frame(other) == b"waiting"


def test_clients_that_wait_for_room_do_not_starve_each_other() -> None:
    """What those who wait have sent already must not count, or it alone could fill the queue for ever."""
    with Served(Echo(), server_limits=ServerLimits(queued_bytes_max=100_000)) as served:
        clients = [served.connect() for _ in range(10)]
        writers = [threading.Thread(target=client.sendall, args=(framed(bytes(400_000)),)) for client in clients]
        for writer in writers:
            writer.start()
        for client in clients:
            assert len(receive_frame(client)) == 400_000
        for writer, client in zip(writers, clients, strict=True):
            writer.join()
            client.close()


def test_an_address_in_use_is_refused_with_kafkas_words() -> None:
    with Served(Echo()) as served:
        host, port = served.listener.address
        second = Listener("SECOND", host, port, Echo(), served.poller, ListenerLimits())
        with pytest.raises(
            ListenError, match=f"Socket server failed to bind to {host}:{port}: Address already in use."
        ):
            served.call(second.start)


def test_a_host_that_is_not_ours_is_refused() -> None:
    with Served(Echo()) as served:
        foreign = Listener("FOREIGN", "192.0.2.1", 0, Echo(), served.poller, ListenerLimits())
        with pytest.raises(ListenError, match=r"192\.0\.2\.1:0"):
            served.call(foreign.start)


def test_all_interfaces_take_both_kinds_of_addresses() -> None:
    handler = Echo()
    with Served(handler) as served:
        everywhere = Listener("ANY", "", 0, handler, served.poller, ListenerLimits())
        served.call(everywhere.start)
        served.listeners.append(everywhere)
        port = everywhere.address[1]
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as client:
            assert ask(client) == b"hello"
            connection = handler.next_connection()
            assert connection.peer == client.getsockname()
            assert connection.local == ("127.0.0.1", port)


def test_a_stopped_listener_frees_its_address_and_keeps_its_clients() -> None:
    with Served(Echo()) as served, served.connect() as client:
        assert ask(client) == b"hello"
        address = served.listener.address
        served.call(served.listener.stop_accepting)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=PATIENCE_S)
        assert ask(client) == b"hello"


def test_a_late_frame_is_served_when_its_client_is_one_of_500() -> None:
    with Served(Echo()) as served:
        clients = [served.connect() for _ in range(500)]
        for turn in range(3):
            for number, client in enumerate(clients):
                client.sendall(framed(b"%d of turn %d" % (number, turn)))
            for number, client in enumerate(clients):
                assert receive_frame(client) == b"%d of turn %d" % (number, turn)
        assert served.listener.connection_count == 500
        for client in clients:
            client.close()


def test_one_busy_client_does_not_hold_up_another() -> None:
    class Slow(Echo):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            self.order.append(bytes(frame[:1]))
            super().received(frame, exchange)

        def __init__(self) -> None:
            super().__init__()
            self.order: list[bytes] = []

    handler = Slow()
    with Served(handler) as served, served.connect() as busy, served.connect() as other:
        release = threading.Event()
        served.thread.loop.call_soon_threadsafe(release.wait)  # both have sent before the server looks
        busy.sendall(framed(b"b") * 20_000)
        other.sendall(framed(b"o"))
        release.set()
        assert receive_frame(other) == b"o"
        assert len(receive_exactly(busy, 100_000)) == 100_000
    assert handler.order.index(b"o") < 1_000


def test_a_stranger_that_sends_noise_again_and_again_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    with Served(Echo()) as served:
        for _ in range(5):
            with served.connect() as noise:
                noise.sendall(b"\xff" * 8)
                assert is_closed_by_server(noise)
    assert caplog.text.count("InvalidFrameError") == 1
