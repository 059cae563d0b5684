"""Where the data of a broker for tests lives, and with which settings."""

import os
import shutil
from pathlib import Path

import pytest

from ottla.testing.broker_setting import broker_settings
from ottla.testing.data_directory import DataDirectory, memory_root


def test_memory_is_used_where_there_is_room(tmp_path: Path) -> None:
    assert memory_root(str(tmp_path), 1) == str(tmp_path)
    assert memory_root(str(tmp_path), 1 << 60) is None
    assert memory_root(f"{tmp_path}/nowhere", 1) is None


def test_it_goes_when_it_is_removed_or_forgotten() -> None:
    removed, forgotten = DataDirectory(), DataDirectory()
    path = forgotten.path
    (Path(path) / "file").write_bytes(b"data")
    removed.remove()
    removed.remove()
    assert not Path(removed.path).exists()
    del forgotten
    assert not Path(path).exists()


def test_a_forked_child_does_not_take_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    directory = DataDirectory()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    directory.remove()
    assert Path(directory.path).exists()
    shutil.rmtree(directory.path)


@pytest.mark.parametrize(("given", "text"), [(3, "3"), ("3", "3"), (True, "true"), (0.5, "0.5")])
def test_what_is_given_counts(given: str | float | bool, text: str) -> None:
    settings = broker_settings("/data", (1, 2), {"num.partitions": given, "group.initial.rebalance.delay.ms": 5})
    assert settings["num.partitions"] == text
    assert settings["group.initial.rebalance.delay.ms"] == "5"
    assert settings["log.dirs"] == "/data"
    assert settings["listeners"] == "PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2"
