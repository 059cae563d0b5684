"""The file connectors, in the harness."""

from pathlib import Path

import pytest

from ottla.connect.connector import Offset, Partition
from ottla.connect.connectors.file_source import FileStreamSourceConnector, FileStreamSourceTask
from ottla.connect.errors import ConnectError
from ottla.connect.harness import WORKER, CountedPause, SinkHarness, SourceHarness
from ottla.connect.pipeline.record_pipeline import RecordPipeline


def test_lines_become_records_once_they_are_complete(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    source = SourceHarness({"connector.class": "FileStreamSource", "file": str(file), "topic": "lines"})
    assert source.poll() == []
    file.write_bytes("first\nsecond ü\r\nthird\rfourth".encode())
    assert [record.value for record in source.poll()] == [b"first", "second ü".encode(), b"third"]
    assert source.poll() == []
    with file.open("ab") as more:
        more.write(b" line\n\n")
    assert [(record.topic, record.value) for record in source.poll()] == [("lines", b"fourth line"), ("lines", b"")]
    source.stop()


def test_a_line_has_the_moment_at_which_it_was_read(tmp_path: Path) -> None:
    """TimestampRouter and InsertField have something to work with, by rows and by columns."""
    file = tmp_path / "lines.txt"
    file.write_bytes(b"a\nb\n")
    settings = {"connector.class": "FileStreamSource", "file": str(file), "topic": "t", "transforms": "r",
                "transforms.r.type": "TimestampRouter", "transforms.r.topic.format": "${topic}-${timestamp}",
                "transforms.r.timestamp.format": "yyyy"}  # fmt: skip
    source = SourceHarness(settings)
    found = source.poll()
    source.stop()
    assert [record.value for record in found] == [b"a", b"b"]
    assert all(record.topic == "t-2023" and record.timestamp == 1_700_000_000_000 for record in found)
    task = FileStreamSourceTask()
    task.start(_NoOffsets(), settings)
    columns = task.poll_columns()
    assert columns is not None
    made = RecordPipeline.of(settings, WORKER, 0, CountedPause()).many.texts(columns)
    assert made is not None
    assert (made.topic, list(made.values)) == (found[0].topic, [b"a", b"b"])
    assert all(made.timestamps)
    task.stop()


class _NoOffsets:
    transaction = None

    def now_ms(self) -> int:
        return 1_700_000_000_000

    def offset(self, partition: Partition) -> Offset | None:
        return None


def test_a_restarted_task_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes("".join(f"line ü {number}\n" for number in range(100)).encode())
    source = SourceHarness(
        {"connector.class": "FileStreamSourceConnector", "file": str(file), "topic": "t", "batch.size": "7"}
    )
    seen: list[bytes | None] = []
    while found := source.poll():
        assert len(found) <= 7
        seen += [record.value for record in found]
        source.restart()
    source.stop()
    assert seen == [f"line ü {number}".encode() for number in range(100)]


def test_long_lines_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    long = b"x" * 5_000_000
    file.write_bytes(long + b"\n" + long[:3_000_000] + b"\r\n")
    source = SourceHarness({"connector.class": "FileStreamSource", "file": str(file), "topic": "t"})
    assert [len(record.value or b"") for record in source.poll()] == [5_000_000, 3_000_000]
    source.stop()


def test_records_become_lines(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    sink = SinkHarness(
        {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "file": str(file),
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            "value.converter.schemas.enable": "false",
        }
    )
    sink.put(b'{"a":1,"b":[1.0,null]}', b'"text"', None)
    assert file.read_text() == "{a=1, b=[1.0, null]}\ntext\nnull\n"
    sink.put(b"1e20")
    sink.stop()
    assert file.read_text().endswith("null\n1.0E20\n")


def test_offsets_that_make_no_sense_are_refused() -> None:
    connector = FileStreamSourceConnector()
    settings = {"file": "a.txt", "topic": "t"}
    place = {"filename": "a.txt"}
    assert connector.alter_offsets(settings, [(place, {"position": 5}), (place, None)])
    for partition, offset in (
        (place, {"position": "5"}), (place, {"position": -1}), (place, {}), ({"file": "a"}, {"position": 1}),
    ):  # fmt: skip
        with pytest.raises(ConnectError):
            connector.alter_offsets(settings, [(partition, offset)])
    with pytest.raises(ConnectError, match="stdin"):
        connector.alter_offsets({"topic": "t"}, [])
