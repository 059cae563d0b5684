"""Sockets that a test has left open are told of when they are collected, in whatever test that happens.

A test that a seed decides opens none: there the warning is about another one, and fails nothing.
"""

import pytest

from tests.harness.rerun import DETERMINISTIC

_OF_ANOTHER = r"ignore:Exception ignored in. <socket\.socket fd=-?\d+, family=2:pytest.PytestUnraisableExceptionWarning"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(DETERMINISTIC):
            item.add_marker(pytest.mark.filterwarnings(_OF_ANOTHER))
