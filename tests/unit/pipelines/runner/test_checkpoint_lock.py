"""Who may have a checkpoint open."""

import fcntl
from pathlib import Path

import pytest

from ottla.pipelines.runner.checkpoint_lock import CheckpointHeldError, CheckpointLock, is_held


def test_one_at_a_time(tmp_path: Path) -> None:
    checkpoint = tmp_path / "p" / "1"
    held = CheckpointLock(checkpoint, tmp_path / "first.log")
    with pytest.raises(CheckpointHeldError, match="another runner has the checkpoint"):
        CheckpointLock(checkpoint, tmp_path / "second.log")
    held.release()
    CheckpointLock(checkpoint, tmp_path / "second.log").release()


def test_what_is_left_of_a_runner_holds_it_as_well(tmp_path: Path) -> None:
    checkpoint, log = tmp_path / "1", tmp_path / "dead.log"
    CheckpointLock(checkpoint, log).abandon()
    with log.open("a") as java:
        fcntl.flock(java, fcntl.LOCK_EX)
        assert is_held(log)
        with pytest.raises(CheckpointHeldError, match="processes of a runner that died"):
            CheckpointLock(checkpoint, tmp_path / "next.log")
        # The same runner may take it again.
        CheckpointLock(checkpoint, log).abandon()
    assert not is_held(log)
    CheckpointLock(checkpoint, tmp_path / "next.log").release()


def test_a_query_that_has_ended_leaves_it_to_anybody_while_its_runner_lives(tmp_path: Path) -> None:
    checkpoint, log = tmp_path / "1", tmp_path / "runner.log"
    with log.open("a") as runner:
        fcntl.flock(runner, fcntl.LOCK_EX)
        CheckpointLock(checkpoint, log).release()
        CheckpointLock(checkpoint, tmp_path / "control").release()
