"""Runs the tests of a module on both twins."""

from types import ModuleType

import pytest

from ottla.protocol.records import frames
from tests.unit.protocol.records import twins


@pytest.fixture(params=twins.FRAMES, ids=twins.name)
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The record loops in use, everywhere, for one test."""
    for function in twins.FRAME_FUNCTIONS:
        monkeypatch.setattr(frames, function, getattr(request.param, function))
    return request.param


@pytest.fixture(params=twins.BATCHES, ids=twins.name)
def batch_twin(request: pytest.FixtureRequest) -> ModuleType:
    """The module whose `Batch` and `Batches` are tested."""
    return request.param
