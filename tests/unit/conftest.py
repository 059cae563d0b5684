"""Unit tests neither sleep nor reach for the network: what needs that is an integration test."""

import socket
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import pytest

_HERE: Final = Path(__file__).parent
_sleep: Final = time.sleep


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Holds for the thread of each test below this directory; a `socketpair` is no network.

    Other threads of the process may belong to tests that ran before, and the servers of a whole run are stopped after
    the last test, whatever that is.
    """
    if not item.path.is_relative_to(_HERE):  # pytest calls this hook of a conftest for all tests
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", _refused(_sleep, "does not sleep: wait for a condition, or hand in a clock"))
        for name in ("connect", "connect_ex", "bind"):
            allowed = getattr(socket.socket, name)
            patch.setattr(socket.socket, name, _refused(allowed, "opens no sockets: move it to tests/integration"))
        return (yield)


def _refused(allowed: Callable[..., Any], reason: str) -> Callable[..., Any]:
    """A function that the calling thread may not use, and others may."""
    tested = threading.get_ident()

    def call(*arguments: Any) -> Any:
        if threading.get_ident() == tested:
            raise AssertionError(f"a unit test {reason} (called with {arguments[-1]!r})")
        return allowed(*arguments)

    return call
