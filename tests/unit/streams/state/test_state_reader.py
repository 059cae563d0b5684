"""A state is read beside its writer: what the last commit left, also after it was made anew."""

from pathlib import Path

import pytest

pytest.importorskip("lmdb", reason="needs lmdb: pip install ottla[streams]")

from ottla.streams.state.errors import StateUnavailableError
from ottla.streams.state.local_state import LocalState, remove_state
from ottla.streams.state.state_reader import StateReader


def write(path: Path, *pairs: tuple[bytes, bytes]) -> None:
    with LocalState(path, "app", is_synced=False) as state:
        position = state.position
        batch = state.restore() if position is None else state.begin(position)
        for key, value in pairs:
            batch.map("counts").put(key, value)
        batch.commit({"in": (position or {}).get("in", 0) + 1}, {})


def test_the_last_commit_is_seen(tmp_path: Path) -> None:
    reader = StateReader(tmp_path / "0")
    counts = reader.map("counts")
    assert not reader.is_there()
    with pytest.raises(StateUnavailableError):
        counts.get(b"a")
    write(tmp_path / "0", (b"a", b"1"), (b"b", b"2"))
    assert reader.is_there()
    assert counts.get(b"a") == b"1"
    assert counts.page(b"", None, 10) == ([(b"a", b"1"), (b"b", b"2")], None)
    assert reader.map("others").page(b"", None, 10) == ([], None)
    reader.close()
    write(tmp_path / "0", (b"a", b"5"))
    assert counts.get(b"a") == b"5"
    reader.close()


def test_a_state_that_is_made_anew_is_opened_again(tmp_path: Path) -> None:
    reader = StateReader(tmp_path / "0")
    write(tmp_path / "0", (b"a", b"1"))
    assert reader.map("counts").get(b"a") == b"1"
    remove_state(tmp_path / "0")
    assert not reader.is_there()
    write(tmp_path / "1", (b"a", b"7"))
    (tmp_path / "1").rename(tmp_path / "0")
    assert reader.map("counts").get(b"a") == b"7"
    reader.close()


def test_one_that_is_being_filled_is_none_yet(tmp_path: Path) -> None:
    with LocalState(tmp_path / "0", "app", is_synced=False):
        pass
    reader = StateReader(tmp_path / "0")
    assert not reader.is_there()
    reader.close()
