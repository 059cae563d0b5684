"""What Kafka Streams refuses is refused, with the same kind of error and in the same words."""

import json
from typing import Final

import pytest

from ottla.streams import StreamsBuilder, StreamsError, TopologyError
from tests.unit.streams.refusal import REFUSALS
from tests.unit.streams.shape import Pass, stream
from tests.unit.streams.test_recorded import VECTORS

RECORDED: Final[dict[str, str]] = json.loads((VECTORS / "refusals.json").read_text())
KINDS: Final[dict[str, type[Exception]]] = {
    "NullPointerException": TypeError,
    "IllegalArgumentException": ValueError,
    "TopologyException": TopologyError,
    "StreamsException": StreamsError,
}


def test_each_refusal_is_recorded() -> None:
    assert set(REFUSALS) == set(RECORDED)


@pytest.mark.parametrize("name", REFUSALS)
def test_it_is_refused_as_by_kafka_streams(name: str) -> None:
    kind, _, text = RECORDED[name].partition(": ")
    if kind == "nothing":
        build(name)
        return
    with pytest.raises(KINDS[kind]) as refused:
        build(name)
    assert (type(refused.value), str(refused.value)) == (KINDS[kind], text)


def build(name: str) -> None:
    builder = StreamsBuilder()
    REFUSALS[name](builder)
    builder.build()


def test_a_supplier_makes_a_processor_for_each_task() -> None:
    one = Pass()
    with pytest.raises(ValueError, match="generates single reference"):
        stream(StreamsBuilder(), "in").process(lambda: one)
