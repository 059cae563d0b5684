"""A lock that many threads want is there for the one who tries, if it was reserved."""

import threading

from ottla.storage.log.turn import Turn


def in_thread(turn: Turn, order: list[str]) -> threading.Thread:
    """A thread that takes the lock, notes it, and gives it back; it has asked for it when this returns."""
    asks = threading.Event()

    def take() -> None:
        asks.set()
        with turn:
            order.append("thread")

    thread = threading.Thread(target=take)
    thread.start()
    asks.wait()
    return thread


def test_one_has_it_at_a_time() -> None:
    turn, order = Turn(), list[str]()
    with turn:
        assert turn.is_taken
        assert not turn.try_acquire()
        thread = in_thread(turn, order)
        order.append("first")
    thread.join()
    assert order == ["first", "thread"]
    assert not turn.is_taken


def test_what_is_reserved_is_left_to_who_tries() -> None:
    turn, order = Turn(), list[str]()
    with turn.reserved():
        thread = in_thread(turn, order)
        assert not turn.is_taken
        assert turn.try_acquire()
        turn.release()
        with turn.without_line:
            order.append("tried")
    thread.join()
    assert order == ["tried", "thread"]


def test_a_reservation_waits_for_who_has_it_and_goes_before_who_comes_later() -> None:
    turn, order = Turn(), list[str]()
    asks = threading.Event()

    def reserve() -> None:
        asks.set()
        with turn.reserved():
            assert turn.try_acquire()
            order.append("reserved")
            turn.release()

    assert turn.try_acquire()
    thread = threading.Thread(target=reserve)
    thread.start()
    asks.wait()
    while not turn._line.locked():
        pass
    later = in_thread(turn, order)
    order.append("first")
    turn.release()
    thread.join()
    later.join()
    assert order == ["first", "reserved", "thread"]
