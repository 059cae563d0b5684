"""A program's own types travel to Spark's workers."""

import pickle
import sys
from collections.abc import Iterator
from typing import TypedDict, get_type_hints

import pytest

pytest.importorskip("pyspark", reason="needs pyspark: pip install ottla[spark]")

from pyspark import cloudpickle

from ottla.pipelines.streams.pickler import dumped


class Count(TypedDict):
    count: int


class NamedCount(Count, total=False):
    name: str | None


def named(count: Count) -> NamedCount:
    return {"count": count["count"], "name": None}


@pytest.fixture(autouse=True)
def script() -> Iterator[None]:
    """This module as a script is: what it defines travels by value."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_functions_that_name_typed_dictionaries_travel() -> None:
    with pytest.raises(TypeError, match="cannot inherit from both a TypedDict type and a non-TypedDict base class"):
        pickle.loads(cloudpickle.dumps(named))
    found = pickle.loads(dumped(named))
    assert found is not named
    assert found({"count": 5}) == {"count": 5, "name": None}
    assert get_type_hints(get_type_hints(found)["return"]) == {"count": int, "name": str | None}
