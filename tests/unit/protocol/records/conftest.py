"""Runs the tests of a module on both twins."""

from types import ModuleType
from typing import Any

import pytest

from ottla.protocol.records import frames
from ottla.protocol.records.arrow import batches as arrow
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


@pytest.fixture(params=twins.COLUMNS, ids=twins.name)
def column_twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The `ColumnReader` and `ColumnWriter` in use for one test."""
    monkeypatch.setattr(arrow, "ColumnReader", request.param[0])
    monkeypatch.setattr(arrow, "ColumnWriter", request.param[1])
    return request.param
