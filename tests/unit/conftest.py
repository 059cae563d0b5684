"""Unit tests neither sleep nor reach for the network: what needs that is an integration test."""

import socket
import time
from collections.abc import Generator
from pathlib import Path
from typing import NoReturn

import pytest

_HERE = Path(__file__).parent


def _refuse_sleep(seconds: float) -> NoReturn:
    raise AssertionError(f"a unit test does not sleep, not even {seconds} s: wait for a condition, or hand in a clock")


def _refuse_address(_: socket.socket, address: object) -> NoReturn:
    raise AssertionError(f"a unit test opens no sockets, as one at {address}: move it to tests/integration")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Holds for all tests below this directory, their fixtures included; a `socketpair` is no network."""
    if not item.path.is_relative_to(_HERE):  # pytest calls this hook of a conftest for all tests
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", _refuse_sleep)
        for name in ("connect", "connect_ex", "bind"):
            patch.setattr(socket.socket, name, _refuse_address)
        return (yield)
