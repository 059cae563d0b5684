"""Answers: in the order of the requests, late or at once, or not at all."""

import logging
import socket
import struct
import threading

import pytest

from ottla.net.channel import Exchange
from ottla.net.limits import ListenerLimits
from tests.integration.net.served import (
    PATIENCE_S,
    Echo,
    Handler,
    Proceeding,
    Served,
    framed,
    is_closed_by_server,
    receive_exactly,
    receive_frame,
)


class Selective(Handler):
    """Echoes at once what does not ask for more: `late` waits, `pass` lets others pass, `none` has no answer."""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        word = bytes(frame).split(b" ")[0]
        if word == b"none":
            exchange.no_answer()
        elif word == b"late":
            super().received(frame, exchange)
        elif word == b"pass":
            exchange.proceed()
            super().received(frame, exchange)
        else:
            exchange.answer([framed(frame)])


def test_the_next_request_waits_for_an_answer_unless_told_otherwise() -> None:
    handler = Handler()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"first") + framed(b"second"))
        frame, first = handler.next_request()
        assert frame == b"first"
        with served.connect() as other:  # by the time another client is served, nothing else has come
            other.sendall(framed(b"other"))
            assert handler.next_request()[0] == b"other"
        assert handler.requests.empty()
        served.call(lambda: first.answer([framed(b"1")]))
        frame, second = handler.next_request()
        assert frame == b"second"
        served.call(lambda: second.answer([framed(b"2")]))
        assert [receive_frame(client), receive_frame(client)] == [b"1", b"2"]


def test_proceed_lets_requests_pass_and_answers_stay_in_order() -> None:
    handler = Proceeding()
    with Served(handler) as served, served.connect() as client:
        client.sendall(b"".join(framed(b"%d" % number) for number in range(5)))
        exchanges = [handler.next_request()[1] for _ in range(5)]
        for number in (3, 1, 4, 0, 2):
            served.call(lambda number=number: exchanges[number].answer([framed(b"answer %d" % number)]))
        assert [receive_frame(client) for _ in range(5)] == [b"answer %d" % number for number in range(5)]


def test_proceed_after_the_call_lets_the_next_one_come() -> None:
    handler = Handler()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"first") + framed(b"second"))
        _, first = handler.next_request()
        served.call(first.proceed)
        frame, second = handler.next_request()
        assert frame == b"second"
        served.call(lambda: second.answer([framed(b"2")]))
        served.call(lambda: first.answer([framed(b"1")]))
        assert [receive_frame(client), receive_frame(client)] == [b"1", b"2"]


def test_answers_at_once_wait_behind_late_ones() -> None:
    handler = Selective()
    with Served(handler) as served, served.connect() as client:
        client.sendall(
            framed(b"a") + framed(b"pass b") + framed(b"c") + framed(b"none") + framed(b"late d") + framed(b"e")
        )
        assert receive_frame(client) == b"a"
        _, late_b = handler.next_request()
        _, late_d = handler.next_request()
        served.call(lambda: late_d.answer([framed(b"d")]))
        served.call(lambda: late_b.answer([framed(b"b")]))
        assert [receive_frame(client) for _ in range(4)] == [b"b", b"c", b"d", b"e"]


def test_late_answers_of_one_call_leave_together() -> None:
    handler = Proceeding()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"x") * 50)
        exchanges = [handler.next_request()[1] for _ in range(50)]

        def answer_all() -> None:
            for number, exchange in enumerate(exchanges):
                exchange.answer([framed(b"%02d" % number)])

        served.call(answer_all)
        assert receive_exactly(client, 300) == b"".join(framed(b"%02d" % number) for number in range(50))


def test_the_number_of_requests_in_flight_is_bounded() -> None:
    handler = Proceeding()
    with Served(handler, ListenerLimits(exchanges_max=3)) as served, served.connect() as client:
        client.sendall(b"".join(framed(b"%d" % number) for number in range(10)))
        waiting = [handler.next_request()[1] for _ in range(3)]
        with served.connect() as other:
            other.sendall(framed(b"other"))
            frame, exchange = handler.next_request()
            assert frame == b"other"
            served.call(lambda: exchange.answer([framed(b"x")]))
        for number in range(3, 10):
            assert handler.requests.empty()
            served.call(lambda: waiting.pop(0).answer([framed(b"ok")]))
            frame, exchange = handler.next_request()
            assert frame == b"%d" % number
            waiting.append(exchange)


@pytest.mark.parametrize("exchanges_max", [1, 2])
def test_the_smallest_numbers_in_flight(exchanges_max: int) -> None:
    handler = Proceeding()
    with Served(handler, ListenerLimits(exchanges_max=exchanges_max)) as served, served.connect() as client:
        client.sendall(framed(b"x") * 5)
        for number in range(5):
            _, exchange = handler.next_request()
            served.call(lambda exchange=exchange, number=number: exchange.answer([framed(b"%d" % number)]))
        assert [receive_frame(client) for _ in range(5)] == [b"0", b"1", b"2", b"3", b"4"]


def test_an_answer_can_be_made_of_many_pieces() -> None:
    class Pieces(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            parts = [b"%d," % number for number in range(1_000)]
            views = [memoryview(part) if number % 3 else bytearray(part) for number, part in enumerate(parts)]
            exchange.answer([sum(map(len, parts)).to_bytes(4, "big"), b"", *views, memoryview(b"")])

    with Served(Pieces()) as served, served.connect() as client:
        for _ in range(2):
            client.sendall(framed(b"x"))
            assert receive_frame(client) == b"".join(b"%d," % number for number in range(1_000))


def test_a_request_is_answered_once() -> None:
    handler = Handler()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"x"))
        _, exchange = handler.next_request()
        assert not exchange.is_done
        served.call(lambda: exchange.answer([framed(b"1")]))
        assert exchange.is_done
        with pytest.raises(RuntimeError):
            served.call(lambda: exchange.answer([framed(b"2")]))
        with pytest.raises(RuntimeError):
            served.call(lambda: Exchange(exchange.connection).answer([framed(b"nobody asked for")]))
        served.call(exchange.proceed)
        assert receive_frame(client) == b"1"


def test_an_answer_to_a_client_that_is_gone_is_dropped() -> None:
    handler = Proceeding()
    with Served(handler) as served:
        client = served.connect()
        client.sendall(framed(b"x") + framed(b"y"))
        exchanges = [handler.next_request()[1] for _ in range(2)]
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()  # a reset
        handler.next_disconnected()
        assert all(exchange.is_done for exchange in exchanges)
        for exchange in exchanges:
            served.call(lambda exchange=exchange: exchange.answer([framed(b"too late")]))
            served.call(exchange.no_answer)
            served.call(exchange.proceed)
        assert handler.disconnected_connections.empty()


def test_a_half_closed_client_gets_all_its_answers() -> None:
    handler = Selective()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"pass 1") + framed(b"late 2") + framed(b"3") + framed(b"pass 4"))
        client.shutdown(socket.SHUT_WR)
        exchanges = [handler.next_request()[1] for _ in range(2)]
        for exchange in exchanges:
            served.call(lambda exchange=exchange: exchange.answer([framed(b"answer")]))
        _, fourth = handler.next_request()
        assert [receive_frame(client) for _ in range(3)] == [b"answer", b"answer", b"3"]
        assert handler.disconnected_connections.empty()
        served.call(lambda: fourth.answer([framed(b"last")]))
        assert receive_frame(client) == b"last"
        assert receive_exactly(client, 1) == b""
        handler.next_disconnected()


def test_a_half_closed_client_that_expects_nothing_is_closed() -> None:
    handler = Selective()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"pass"))
        _, exchange = handler.next_request()
        client.shutdown(socket.SHUT_WR)
        served.call(exchange.no_answer)
        assert receive_exactly(client, 1) == b""


def test_closing_instead_of_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ottla.net")

    class Closing(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            exchange.close("acks=0 and an error")
            assert not exchange.connection.is_open

    handler = Closing()
    with Served(handler) as served, served.connect() as client:
        connection = handler.next_connection()
        client.sendall(framed(b"x") * 3)
        assert is_closed_by_server(client)
        assert handler.next_disconnected() is connection
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("ottla.net")]
    assert line.endswith("acks=0 and an error")
    assert f"{connection.peer[0]}:{connection.peer[1]}" in line


def test_closing_once_everything_is_answered() -> None:
    class Failing(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            if bytes(frame) == b"bad":
                exchange.connection.close_when_answered("authentication failed")
            exchange.proceed()
            super().received(frame, exchange)

    handler = Failing()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"good") + framed(b"bad") + framed(b"never read"))
        exchanges = [handler.next_request()[1] for _ in range(2)]
        for exchange in reversed(exchanges):
            served.call(lambda exchange=exchange: exchange.answer([framed(b"answer")]))
        assert [receive_frame(client), receive_frame(client)] == [b"answer", b"answer"]
        assert is_closed_by_server(client)
        handler.next_disconnected()
    assert handler.requests.empty()


def test_closing_at_once_after_an_answer_in_the_same_call() -> None:
    class Last(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            exchange.answer([framed(b"goodbye")])
            exchange.connection.close_when_answered("last one")

    with Served(Last()) as served, served.connect() as client:
        client.sendall(framed(b"x"))
        assert receive_frame(client) == b"goodbye"
        assert receive_exactly(client, 1) == b""


def test_a_throttled_client_is_answered_but_not_read() -> None:
    class Throttling(Handler):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            self.times.append(served.thread.loop.time())
            if not self.is_throttled:
                self.is_throttled = True
                exchange.connection.throttle(50)
                exchange.connection.throttle(200)
                exchange.connection.throttle(10)
            exchange.answer([framed(frame)])

        def __init__(self) -> None:
            super().__init__()
            self.times: list[float] = []
            self.is_throttled = False

    handler = Throttling()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"1") + framed(b"2"))
        assert receive_frame(client) == b"1"
        client.sendall(framed(b"3"))
        assert [receive_frame(client), receive_frame(client)] == [b"2", b"3"]
        assert handler.times[1] - handler.times[0] > 0.199


def test_a_throttled_client_can_be_closed() -> None:
    class Throttling(Echo):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            exchange.connection.throttle(60_000)
            super().received(frame, exchange)

    handler = Throttling()
    with Served(handler) as served, served.connect() as client:
        connection = handler.next_connection()
        client.sendall(framed(b"1"))
        assert receive_frame(client) == b"1"
        served.call(lambda: connection.close("enough"))
        served.call(lambda: connection.throttle(10))
        assert is_closed_by_server(client)
        assert handler.next_disconnected() is connection


def test_the_handler_is_never_called_inside_of_an_answer() -> None:
    """A late answer is given in the middle of somebody else's work: the next frame must not start there."""
    handler = Handler()
    with Served(handler) as served, served.connect() as client:
        client.sendall(framed(b"first") + framed(b"second"))
        _, first = handler.next_request()

        def answer_and_look() -> bool:
            first.answer([framed(b"1")])
            return handler.requests.empty()

        assert served.call(answer_and_look)
        assert handler.next_request()[0] == b"second"


def test_callbacks_at_the_end_of_a_round_run_once_in_order() -> None:
    calls: list[int] = []

    class Hooking(Echo):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            served.poller.at_round_end(lambda: calls.append(1))
            served.poller.at_round_end(lambda: served.poller.at_round_end(lambda: calls.append(3)))
            served.poller.at_round_end(lambda: calls.append(2))
            super().received(frame, exchange)

    with Served(Hooking()) as served, served.connect() as client:
        client.sendall(framed(b"x"))
        assert receive_frame(client) == b"x"
        client.sendall(framed(b"y"))
        assert receive_frame(client) == b"y"
        served.call(lambda: served.poller.at_round_end(lambda: calls.append(4)))
        served.call(lambda: None)
        served.call(lambda: None)
    assert calls == [1, 2, 3, 1, 2, 3, 4]


def test_a_connection_knows_both_ends() -> None:
    handler = Echo()
    with Served(handler) as served, served.connect() as client:
        connection = handler.next_connection()
        assert connection.peer == client.getsockname()
        assert connection.local == client.getpeername() == served.listener.address
        assert connection.listener == "TEST0"
        ends = "{}:{}-{}:{}".format(*connection.local, *connection.peer)
        assert connection.id.startswith(ends)


def test_a_client_that_says_goodbye_in_a_large_frame_still_gets_its_answer_and_the_end() -> None:
    has_left = threading.Event()

    class Patient(Echo):
        def received(self, frame: memoryview, exchange: Exchange) -> None:
            assert has_left.wait(PATIENCE_S)
            super().received(frame, exchange)

    with Served(Patient()) as served, served.connect() as client:
        client.sendall(framed(b"small") + framed(bytes(100_000))[:50_000])
        client.shutdown(socket.SHUT_WR)
        has_left.set()
        assert receive_frame(client) == b"small"
        assert is_closed_by_server(client)
