"""Fixtures for pytest: a broker and topics for tests with any client.

pytest loads this wherever Ottla is installed, so it imports nothing but pytest: a broker is imported when a
test first asks for one. One broker serves all tests of a session; what a test did to it, faults or a kill, is undone
before the next. Tests keep out of each other's way by topics of their own, or take a fresh broker.
"""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from ottla.testing.broker_setting import SettingValue
    from ottla.testing.embedded_broker import EmbeddedBroker

_BROKER: Final = pytest.StashKey["EmbeddedBroker"]()
_numbers: Final = itertools.count(1)


@pytest.fixture(scope="session")
def ottla_broker_settings() -> "dict[str, SettingValue]":
    """The settings of `ottla_broker` and `ottla_fresh_broker`, by their dotted names; define it anew to give some."""
    return {}


@pytest.fixture(scope="session")
def ottla_broker(
    request: pytest.FixtureRequest, ottla_broker_settings: "dict[str, SettingValue]"
) -> "Iterator[EmbeddedBroker]":
    """The broker of this session: `ottla_broker.bootstrap_servers` is what clients want to know.

    Between tests its faults are cleared, and it is started again if it is down; its topics, groups and time stay.
    """
    from ottla.testing.embedded_broker import EmbeddedBroker

    with EmbeddedBroker(ottla_broker_settings) as broker:
        request.config.stash[_BROKER] = broker
        yield broker
        del request.config.stash[_BROKER]


@pytest.fixture
def ottla_fresh_broker(ottla_broker_settings: "dict[str, SettingValue]") -> "Iterator[EmbeddedBroker]":
    """A broker for one test alone, with nothing on it."""
    from ottla.testing.embedded_broker import EmbeddedBroker

    with EmbeddedBroker(ottla_broker_settings) as broker:
        yield broker


@pytest.fixture
def ottla_topic(request: pytest.FixtureRequest, ottla_broker: "EmbeddedBroker") -> str:
    """A new topic on `ottla_broker`, with as many partitions as `num.partitions` says; its name says whose it is."""
    test = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in request.node.name)
    return ottla_broker.create_topic(f"{test[:100]}-{next(_numbers)}")


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Gives the next test the session's broker as this one got it."""
    broker = item.config.stash.get(_BROKER, None)
    if broker is not None:
        broker.start()
        broker.faults.clear()
