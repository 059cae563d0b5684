"""A broker for a test, closed behind it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.broker.data_broker import DataBroker


@pytest.fixture
def make_broker(tmp_path: Path) -> Iterator[Callable[..., DataBroker]]:
    """Makes brokers with settings, one behind the other in the same directory."""
    made: list[DataBroker] = []

    def make(**settings: object) -> DataBroker:
        made.append(DataBroker(tmp_path, **settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for broker in made:
        broker.close()


@pytest.fixture
def broker(make_broker: Callable[..., DataBroker]) -> DataBroker:
    """A broker with the settings that everybody has."""
    return make_broker()
