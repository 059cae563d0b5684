"""Whether a topology asks for the clock, and what a worker is told of it."""

import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install ottla[spark]")

from ottla.pipelines.streams.clock import tick_ms_of
from ottla.pipelines.streams.shipment import Shipment, UnshippableTopologyError, unpacked
from ottla.streams import Consumed, Processor, ProcessorContext, PunctuationType, Record, Serdes, StreamsBuilder
from ottla.streams.host.application import Application

TEXT = Serdes.string()


class Scheduling(Processor[Any, Any, Any, Any]):
    """Asks for the clock, or for stream time."""

    interval_ms = 0
    kind = PunctuationType.STREAM_TIME

    def init(self, context: ProcessorContext[Any, Any]) -> None:
        super().init(context)
        if self.interval_ms:
            context.schedule(self.interval_ms, self.kind, lambda time: None)

    def process(self, record: Record[Any, Any]) -> None:
        self.context.forward(record)


def application(supplier: Any, **config: object) -> Application:
    builder = StreamsBuilder()
    builder.stream("in", Consumed.with_(TEXT, TEXT)).process(supplier)
    return Application.planned(builder.build(), {"application.id": "app", **config}, {"in": 2})


def scheduling(interval_ms: int, kind: PunctuationType) -> Any:
    return type("Made", (Scheduling,), {"interval_ms": interval_ms, "kind": kind})


@pytest.mark.parametrize(
    ("interval_ms", "kind", "tick_ms"),
    [
        (0, PunctuationType.STREAM_TIME, None),
        (500, PunctuationType.STREAM_TIME, None),
        (500, PunctuationType.WALL_CLOCK_TIME, 500),
        (1, PunctuationType.WALL_CLOCK_TIME, 100),
    ],
)
def test_ticks_are_there_where_the_clock_is_asked_for(
    interval_ms: int, kind: PunctuationType, tick_ms: int | None
) -> None:
    assert tick_ms_of(application(scheduling(interval_ms, kind))) == tick_ms


def test_an_application_travels(tmp_path: Path) -> None:
    text = Shipment(application(Scheduling), tmp_path, True, {"a": "b"}, None).packed()
    found = unpacked(text)
    assert found.application.inputs == ("in",)
    assert found.application.layout() == application(Scheduling).layout()
    assert unpacked(text) is found


def test_what_cannot_travel_is_told_before_spark_starts(tmp_path: Path) -> None:
    made = application(Scheduling, handler=threading.Lock())
    with pytest.raises(UnshippableTopologyError, match="cannot be sent to Spark's workers: cannot pickle"):
        Shipment(made, tmp_path, True, {}, None).packed()
