"""Rounds with many clients, whose answers leave while the next round is served."""

import socket
import threading

import pytest

from tests.integration.net.served import Echo, Served, framed, is_closed_by_server, receive_frame

CLIENTS = 60
"""More than enough for a round to be sent by two threads."""
ROUNDS = 30


class Held:
    """Keeps the server's loop from polling, so that what comes meanwhile is one round."""

    def __init__(self, served: Served) -> None:
        self._go_on = threading.Event()
        served.thread.loop.call_soon_threadsafe(self._go_on.wait)

    def release(self) -> None:
        self._go_on.set()


def test_each_client_gets_its_own_answers_in_order() -> None:
    with Served(Echo()) as served:
        clients = [served.connect() for _ in range(CLIENTS)]
        for number in range(ROUNDS):
            held = Held(served)
            for place, client in enumerate(clients):
                # Some ask twice, some have a long answer, some ask again before they have read.
                client.sendall(framed(b"%d/%d" % (place, number)) * (1 + place % 2))
            held.release()
            for place, client in enumerate(clients):
                for _ in range(1 + place % 2):
                    assert receive_frame(client) == b"%d/%d" % (place, number)
        for client in clients:
            client.close()


def test_clients_that_go_on_while_others_are_answered() -> None:
    """No lockstep: each has several requests on their way, small and large ones."""
    failures: list[str] = []

    def converse(served: Served, place: int) -> None:
        contents = [b"%d/%d" % (place, number) * (1 + 9_000 * (number % 7 == place % 7)) for number in range(ROUNDS)]
        with served.connect() as client:
            for first, second in zip(contents[::2], contents[1::2], strict=True):
                client.sendall(framed(first) + framed(second))
                if (receive_frame(client), receive_frame(client)) != (first, second):
                    failures.append(f"client {place}")

    with Served(Echo()) as served:
        threads = [threading.Thread(target=converse, args=(served, place)) for place in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


@pytest.mark.parametrize("goodbye", [socket.SHUT_WR, socket.SHUT_RDWR])
def test_clients_that_say_goodbye_do_not_take_from_the_others(goodbye: int) -> None:
    with Served(Echo()) as served:
        clients = [served.connect() for _ in range(CLIENTS)]
        held = Held(served)
        for place, client in enumerate(clients):
            client.sendall(framed(b"%d" % place))
            if place % 3 == 0:
                client.shutdown(goodbye)
        held.release()
        for place, client in enumerate(clients):
            if place % 3 or goodbye == socket.SHUT_WR:
                assert receive_frame(client) == b"%d" % place
            if place % 3 == 0:
                assert is_closed_by_server(client)
        for place, client in enumerate(clients):
            if place % 3:
                client.sendall(framed(b"again"))
                assert receive_frame(client) == b"again"
            client.close()


def test_a_round_of_answers_that_sockets_do_not_take() -> None:
    content = bytes(200_000)
    with Served(Echo()) as served:
        clients = [served.connect(receive_buffer_bytes=4_096) for _ in range(12)]
        for _ in range(3):
            held = Held(served)
            for client in clients:
                client.sendall(framed(content[:8_000]) * 3)
            held.release()
        for client in clients:
            for _ in range(9):
                assert receive_frame(client) == content[:8_000]
            client.close()


def test_a_fleet_that_connects_at_once_does_not_have_to_try_again() -> None:
    with Served(Echo()) as served:
        held = Held(served)
        clients = [served.connect() for _ in range(100)]
        held.release()
        for client in clients:
            client.sendall(framed(b"hello"))
        for client in clients:
            assert receive_frame(client) == b"hello"
            client.close()
