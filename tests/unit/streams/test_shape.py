"""Names of nodes, stores and topics are Kafka Streams': descriptions are the recorded ones, optimized or not."""

import json
from typing import Final

import pytest

from ottla.streams import StreamsBuilder, TopologyError
from tests.unit.streams.shape import SHAPES
from tests.unit.streams.table_shape import TABLE_SHAPES
from tests.unit.streams.test_recorded import VECTORS

ALL: Final = SHAPES | TABLE_SHAPES
RECORDED: Final[dict[str, dict[str, str]]] = json.loads((VECTORS / "shapes.json").read_text())
OPTIMIZATIONS: Final = (
    "none",
    "all",
    "reuse.ktable.source.topics",
    "merge.repartition.topics",
    "single.store.self.join",
)


def test_each_shape_is_recorded() -> None:
    assert set(ALL) == set(RECORDED)


@pytest.mark.parametrize("name", ALL)
def test_descriptions_are_those_of_kafka_streams(name: str) -> None:
    recorded = RECORDED[name]
    given = {optimization: described(name, optimization) for optimization in OPTIMIZATIONS}
    assert given == {optimization: recorded.get(optimization, recorded["none"]) for optimization in OPTIMIZATIONS}


def described(name: str, optimization: str) -> str:
    builder = StreamsBuilder()
    ALL[name](builder)
    try:
        return builder.build({"topology.optimization": optimization}).describe()
    except TopologyError as refused:
        return str(refused)
