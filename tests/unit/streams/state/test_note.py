"""Notes beside the state: a full disk leaves the one before."""

import resource
from pathlib import Path

import pytest

from ottla.streams.state.errors import StateUnwritableError
from ottla.streams.state.note import write_note


def test_a_full_disk_leaves_the_note_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "app" / "layout.json"
    write_note(path, "first")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3, hard))
    try:
        write_note(path, "first")
        with pytest.raises(StateUnwritableError, match=r"layout\.json cannot be written.+Free some space"):
            write_note(path, "second")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text() == "first"
    write_note(path, "second")
    assert path.read_text() == "second"
