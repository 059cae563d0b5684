"""The harness for tests of connectors: what a task is asked, and in which order, is what a worker asks."""

from typing import Any, ClassVar

import pytest

from ottla.connect.connector import SinkConnector, SinkTask, SourceConnector, SourceTask
from ottla.connect.errors import DataError, RetriableError
from ottla.connect.harness import SinkHarness, SourceHarness
from ottla.connect.record import SourceRecord


class Listening(SinkConnector):
    """Its task notes what it is asked."""

    def task_class(self) -> type[SinkTask]:
        return ListeningTask


class ListeningTask(SinkTask):
    """Refuses the first batch for a while."""

    asked: ClassVar[list[Any]] = []
    refusals = 0

    def open(self, partitions: Any) -> None:
        self.asked.append(("open", partitions))

    def put(self, records: Any) -> None:
        if ListeningTask.refusals:
            ListeningTask.refusals -= 1
            raise RetriableError("later")
        self.asked.append(("put", [record.value for record in records]))

    def flush(self, offsets: Any) -> None:
        self.asked.append(("flush", offsets))

    def close(self, partitions: Any) -> None:
        self.asked.append(("close", partitions))


class Careless(SourceConnector):
    """Its task forgets what a poll returns, or fails for a while."""

    def task_class(self) -> type[SourceTask]:
        return CarelessTask


class CarelessTask(SourceTask):
    """One poll of each sort."""

    def start(self, context: Any, settings: Any) -> None:
        self.polls = iter([None, RetriableError("not yet"), [SourceRecord({"a": 1}, {"at": [1]}, "t", "v")]])

    def poll(self) -> Any:
        found = next(self.polls)
        if isinstance(found, RetriableError):
            raise found
        return found


def test_a_sink_opens_and_closes_its_partitions_and_gets_refused_records_again() -> None:
    ListeningTask.asked, ListeningTask.refusals = [], 2
    sink = SinkHarness({"connector.class": f"{__name__}:Listening", "topics": "t"})
    sink.put(b"a", topic="t")
    sink.put(b"b", topic="t")
    sink.stop()
    assert ListeningTask.asked == [
        ("open", [("t", 0)]), ("put", ["a"]), ("flush", {("t", 0): 1}),
        ("put", ["b"]), ("flush", {("t", 0): 2}), ("close", [("t", 0)]),
    ]  # fmt: skip
    assert sink.pause.waited_ms == 900
    ListeningTask.refusals = 100
    with pytest.raises(RetriableError):
        sink.put(b"c")


def test_a_source_may_have_nothing_or_fail_for_a_while_but_its_offsets_must_be_storable() -> None:
    source = SourceHarness({"connector.class": f"{__name__}:Careless"})
    assert source.poll() == []
    assert source.poll() == []
    with pytest.raises(DataError, match="Field 'at' of a source partition or offset"):
        source.poll()
