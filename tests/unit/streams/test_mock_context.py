"""MockProcessorContext keeps what a processor does, over real stores."""

import pytest

from ottla.streams import (
    CapturedForward,
    MockProcessorContext,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    RecordMetadata,
    Serdes,
    Stores,
    StreamsError,
)

TEXT = Serdes.string()


class Latest(Processor[str, str, str, str]):
    """Keeps the latest value of each key, and sends them all now and then."""

    def init(self, context: ProcessorContext[str, str]) -> None:
        super().init(context)
        self._store = context.get_state_store("latest")
        self._schedule = context.schedule(10, PunctuationType.STREAM_TIME, self._send, 5)

    def process(self, record: Record[str, str]) -> None:
        self._store.put(record.key, record.value)
        if record.value == "stop":
            self._schedule.cancel()
            self.context.commit()
        self.context.forward(record, "audit")

    def _send(self, time: int) -> None:
        for key, value in self._store.all():
            self.context.forward(Record(key, value, time))


def test_it_keeps_what_a_processor_does() -> None:
    context: MockProcessorContext[str, str] = MockProcessorContext({"application.id": "app", "my.x": 1})
    builder = Stores.key_value_store_builder(Stores.in_memory_key_value_store("latest"), TEXT, TEXT)
    store = context.add_state_store(builder)
    latest = Latest()
    latest.init(context)
    latest.process(Record("a", "x", 3))
    latest.process(Record("a", "y", 4))
    assert store.get("a") == "y"
    (scheduled,) = context.scheduled_punctuators()
    assert (scheduled.interval_ms, scheduled.start_time, scheduled.cancelled) == (10, 5, False)
    scheduled.callback(15)
    assert [one.child_name for one in context.forwarded()] == ["audit", "audit", None]
    assert context.forwarded("other") == [CapturedForward(Record("a", "y", 15))]
    context.reset_forwards()
    assert context.forwarded() == []
    assert not context.committed()
    latest.process(Record("a", "stop", 5))
    assert (context.committed(), scheduled.cancelled) == (True, True)
    context.reset_commit()
    assert not context.committed()
    assert (context.application_id(), context.task_id()) == ("app", "0_0")
    assert context.app_configs_with_prefix("my.") == {"x": 1}


def test_times_and_metadata_are_set_by_the_test() -> None:
    context: MockProcessorContext[str, str] = MockProcessorContext()
    with pytest.raises(StreamsError, match="System time must be set before use"):
        context.current_system_time_ms()
    with pytest.raises(StreamsError, match="Stream time must be set before use"):
        context.current_stream_time_ms()
    assert context.record_metadata() is None
    context.set_current_system_time_ms(7)
    context.set_current_stream_time_ms(5)
    context.set_record_metadata("in", 2, 9)
    assert (context.current_system_time_ms(), context.current_stream_time_ms()) == (7, 5)
    assert context.record_metadata() == RecordMetadata("in", 2, 9)
