"""The map over LMDB: bytes of any length in order, scans that show what was there when they began."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.streams.state.lmdb_map import KEY_BYTES_MAX, LmdbMap
from ottla.streams.state.local_state import LocalState

LONG = b"k" * KEY_BYTES_MAX


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[LmdbMap]:
    with LocalState(tmp_path, "test", is_synced=False) as state:
        batch = state.restore()
        yield batch.map("store")
        batch.abort()


def test_keys_of_any_length_are_kept_apart_and_in_order(stored: LmdbMap) -> None:
    keys = [b"", b"a", LONG[:-3], LONG[:-2], LONG + b"1", LONG + b"10", LONG + b"2", LONG + b"2" * 600, b"z"]
    for key in reversed(keys):
        stored.put(key, b"of " + key)
    assert [stored.get(key) for key in keys] == [b"of " + key for key in keys]
    assert list(stored.scan(b"", None)) == [(key, b"of " + key) for key in keys]
    assert [key for key, _ in stored.scan(LONG + b"10", LONG + b"3")] == [LONG + b"10", LONG + b"2", LONG + b"2" * 600]
    for key in keys[::2]:
        stored.delete(key)
    assert [key for key, _ in stored.scan(b"", None)] == keys[1::2]
    assert stored.get(LONG + b"1") is None


def test_a_scan_shows_what_was_there_when_it_began(stored: LmdbMap) -> None:
    keys = [b"%04d" % number for number in range(1_000)]
    for key in keys:
        stored.put(key, b"old")
    scan = stored.scan(b"", None)
    seen = [next(scan)]
    stored.put(b"0500", b"new")
    stored.put(b"0500a", b"added")
    stored.delete(b"0900")
    seen += scan
    assert seen == [(key, b"old") for key in keys]
    assert stored.get(b"0500") == b"new"


def test_a_scan_that_is_left_alone_costs_its_beginning_only(stored: LmdbMap) -> None:
    for number in range(1_000):
        stored.put(b"%04d" % number, b"x")
    scan = stored.scan(b"", None)
    assert next(scan)[0] == b"0000"
    # What lies before the place that it has reached is none of its business.
    stored.delete(b"0000")
    assert next(scan)[0] == b"0001"


def test_stores_do_not_see_each_other(tmp_path: Path) -> None:
    with LocalState(tmp_path, "test", is_synced=False) as state:
        batch = state.restore()
        batch.map("one").put(b"k", b"1")
        batch.map("two").put(b"k", b"2")
        assert list(batch.map("one").scan(b"", None)) == [(b"k", b"1")]
        assert list(batch.map("two").scan(b"", None)) == [(b"k", b"2")]
        batch.abort()
