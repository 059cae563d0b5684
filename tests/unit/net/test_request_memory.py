"""The room for requests that wait: counted, limited, and waited for."""

from ottla.net.request_memory import RequestMemory


def test_one_request_may_pass_the_limit_and_the_next_waits() -> None:
    memory = RequestMemory(100)
    memory.claim(99)
    assert not memory.is_full
    memory.claim(1_000)
    assert memory.is_full
    memory.free(1_000)
    assert not memory.is_full


def test_no_limit() -> None:
    for limit in (-1, 0):
        memory = RequestMemory(limit)
        memory.claim(10**12)
        assert not memory.is_full


def test_who_waits_is_called_once_when_there_is_room() -> None:
    memory, calls = RequestMemory(100), []
    memory.claim(150)
    for who in "abc":
        memory.wait(who, lambda who=who: calls.append(who))
    memory.forget("b")
    memory.free(10)
    assert not calls
    memory.free(100)
    memory.free(40)
    assert calls == ["a", "c"]
    assert memory.used_bytes == 0


def test_a_higher_limit_makes_room() -> None:
    memory, calls = RequestMemory(100), []
    memory.claim(150)
    memory.wait("a", lambda: calls.append("a"))
    memory.change_limit(200)
    assert calls == ["a"]
    memory.change_limit(120)
    assert memory.is_full
