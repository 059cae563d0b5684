"""The directory source, in the harness: each format, files that are set aside, and a restart in the middle of one."""

import datetime as dt
import json
import os
from decimal import Decimal
from pathlib import Path

import pytest

from ottla.connect.harness import SourceHarness

JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


def source(folder: Path, **settings: str) -> SourceHarness:
    given = {name.replace("_", "."): value for name, value in settings.items()}
    config = {"connector.class": "ottla.connect.DirectorySource", "directory": str(folder), "topic": "rows", **given}
    return SourceHarness(config, JSON)


def values(found: SourceHarness, polls: int = 12) -> list[object]:
    return [json.loads(record.value or b"null") for _ in range(polls) for record in found.poll()]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("format_", "text", "wanted"),
    [
        ("csv", 'id,name\n1,"a, b"\n\n2,ü\n', [{"id": "1", "name": "a, b"}, {"id": "2", "name": "ü"}]),
        ("jsonl", '{"a": 1}\n\n[2]\n', [{"a": 1}, [2]]),
        ("text", "one\r\ntwo\n", ["one", "two"]),
    ],
)
def test_rows_become_records_and_the_file_is_marked(
    tmp_path: Path, format_: str, text: str, wanted: list[object]
) -> None:
    (tmp_path / "a").write_text(text)
    (tmp_path / ".hidden").write_text(text)
    (tmp_path / "empty").touch()
    found = source(tmp_path, format=format_)
    assert values(found) == wanted
    assert names(tmp_path) == [".hidden", "a.done", "empty.done"]
    # The same name again is another file.
    (tmp_path / "a").write_text(text)
    assert values(found) == wanted


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    row = {"n": 7, "f": 0.5, "s": "ü", "b": b"\1", "d": dt.date(2020, 1, 2), "t": dt.datetime(2020, 1, 2),
           "m": Decimal("1.50"), "l": [1, None], "o": {"x": True}}  # fmt: skip
    parquet.write_table(pa.Table.from_pylist([row, {"n": 8}]), tmp_path / "p.parquet")
    [first, second] = values(source(tmp_path, format="parquet"))
    assert first == {
        "n": 7, "f": 0.5, "s": "ü", "b": "AQ==", "d": 18263, "t": 1577923200000, "m": "AJY=", "l": [1, None],
        "o": {"x": True},
    }  # fmt: skip
    assert second == dict.fromkeys(row) | {"n": 8}


def test_a_restart_goes_on_in_the_middle_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n" + "".join(f"{number}\n" for number in range(100)))
    found = source(tmp_path, format="csv", batch_size="7", file_pattern="*.csv", finished="keep")
    first = values(found, polls=6)
    assert 0 < len(first) < 100
    found.restart()
    assert [*first, *values(found, polls=40)] == [{"n": str(number)} for number in range(100)]
    found.restart()
    assert values(found) == []
    assert names(tmp_path) == ["a.csv"]


def test_finished_files_are_moved_and_tasks_share_them(tmp_path: Path) -> None:
    folder, done = tmp_path / "in", tmp_path / "done"
    folder.mkdir()
    for number in range(8):
        (folder / f"f{number}").write_text(f"{number}\n")
    found = source(folder, finished="move", finished_directory=str(done), tasks_max="2")
    # The harness runs the first of the two tasks.
    moved = values(found, polls=60)
    assert 0 < len(moved) < 8
    assert names(done) == sorted(f"f{number}" for number in moved)
    assert len(os.listdir(folder)) == 8 - len(moved)


def test_a_row_that_does_not_fit_says_where(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1\n")
    found = source(tmp_path, format="csv")
    with pytest.raises(Exception, match=r"a\.csv, line 2: 1 columns where there are 2"):
        values(found)
