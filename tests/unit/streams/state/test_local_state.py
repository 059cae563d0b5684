"""The state on disk: a repeated batch starts from the state before it, any other one is noticed."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.streams.state.errors import StateMismatchError, StateUnavailableError
from ottla.streams.state.local_state import LocalState, StateBatch


def opened(path: Path, identity: str = "app partition 0") -> LocalState:
    return LocalState(path, identity, is_synced=False)


def started(path: Path) -> LocalState:
    state = opened(path)
    state.restore().commit({"in": 0}, {})
    return state


def content(batch: StateBatch) -> dict[bytes, bytes]:
    return dict(batch.map("s").scan(b"", None))


def batch_to(state: LocalState, start: int, end: int, **changes: bytes | None) -> dict[bytes, bytes]:
    """Runs a batch that makes these changes; what it found before them."""
    batch = state.begin({"in": start})
    found = content(batch)
    for key, value in changes.items():
        if value is None:
            batch.map("s").delete(key.encode())
        else:
            batch.map("s").put(key.encode(), value)
    batch.commit({"in": end}, {"0_0": {"": (end,)}})
    return found


def test_a_batch_goes_on_from_the_one_before(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        assert batch_to(state, 0, 10, a=b"1") == {}
        assert batch_to(state, 10, 20, b=b"2", a=None) == {b"a": b"1"}
        assert state.position == {"in": 20}
        batch = state.begin({"in": 20})
        assert content(batch) == {b"b": b"2"}
        assert batch.times == {"0_0": {"": (20,)}}
        batch.abort()


def test_a_repeated_batch_finds_the_state_before_it(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        batch_to(state, 0, 10, a=b"1", b=b"1")
        for _ in range(3):
            assert batch_to(state, 10, 20, a=None, b=b"2", c=b"2") == {b"a": b"1", b"b": b"1"}
        batch = state.begin({"in": 10})
        assert batch.times == {"0_0": {"": (10,)}}
        batch.abort()
        # What was given up leaves everything as it was.
        assert state.position == {"in": 20}
        assert batch_to(state, 20, 30) == {b"b": b"2", b"c": b"2"}


@pytest.mark.parametrize("start", [0, 15, 30])
def test_a_batch_from_elsewhere_is_refused(tmp_path: Path, start: int) -> None:
    with started(tmp_path) as state:
        batch_to(state, 0, 10)
        batch_to(state, 10, 20)
        assert not state.is_before({"in": start})
        with pytest.raises(StateMismatchError, match=r"stands at in 20 .before that: in 10., and the batch begins at"):
            state.begin({"in": start})


def test_a_new_state_knows_no_batch(tmp_path: Path) -> None:
    with opened(tmp_path) as state:
        assert state.position is None
        assert not state.is_before({"in": 0})


def test_topics_that_are_new_begin_where_they_begin(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        state.begin({"in": 0, "added": 7}).commit({"in": 3, "added": 9}, {})
        assert state.position == {"in": 3, "added": 9}


def test_a_state_of_something_else_is_refused(tmp_path: Path) -> None:
    with started(tmp_path):
        pass
    with pytest.raises(StateMismatchError, match="belongs to something else"):
        opened(tmp_path, "other partition 0")


def test_what_a_dead_process_left_open_does_not_count(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        batch_to(state, 0, 10, a=b"1")
        batch = state.begin({"in": 10})
        batch.map("s").put(b"a", b"lost")
        batch.abort()
    with opened(tmp_path) as state:
        assert batch_to(state, 10, 20) == {b"a": b"1"}


def test_a_restored_state_begins_empty(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        batch_to(state, 0, 10, a=b"1")
        batch = state.restore()
        assert content(batch) == {}
        batch.map("s").put(b"r", b"2")
        batch.commit({"in": 50}, {})
        assert batch_to(state, 50, 60) == {b"r": b"2"}
        with pytest.raises(StateMismatchError):
            state.begin({"in": 0})


def test_a_state_that_was_not_synced_is_not_believed_after_a_restart(tmp_path: Path) -> None:
    with started(tmp_path):
        pass
    (tmp_path / "boot").write_text("another boot")
    with opened(tmp_path) as state:
        assert state.position is None


def test_reading_shows_the_last_batch(tmp_path: Path) -> None:
    with started(tmp_path) as state:
        batch_to(state, 0, 10, a=b"1")
        reading = state.read()
        assert content(reading) == {b"a": b"1"}
        assert reading.map("never written").get(b"a") is None
        reading.abort()


@contextmanager
def full_disk(path: Path) -> Iterator[None]:
    """No file of this process grows beyond the state as it is: the system refuses it as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((path / "data.mdb").stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def write(state: LocalState, records: int) -> None:
    batch = state.begin({"in": 10})
    try:
        for number in range(records):
            batch.map("s").put(b"%d" % number, b"x" * 1_000)
        batch.commit({"in": 20}, {})
    finally:
        batch.abort()


@pytest.mark.parametrize(
    "records",
    [pytest.param(3_000, id="at the commit"), pytest.param(800_000, id="in the middle", marks=pytest.mark.long)],
)
def test_a_full_disk_loses_nothing(tmp_path: Path, records: int) -> None:
    """LMDB keeps half a gigabyte of changes in memory before it writes some."""
    with started(tmp_path) as state:
        batch_to(state, 0, 10, a=b"1")
        with full_disk(tmp_path), pytest.raises(StateUnavailableError, match=r"Free some space below state\.dir"):
            write(state, records)
        assert state.position == {"in": 10}
        assert batch_to(state, 10, 20, b=b"2") == {b"a": b"1"}
    with opened(tmp_path) as again:
        assert again.position == {"in": 20}


def test_a_disk_that_is_full_from_the_start_is_said(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").touch()
    with full_disk(tmp_path), pytest.raises(StateUnavailableError, match=r"Free some space below state\.dir"):
        opened(tmp_path)
