"""`ottla completion` in the shells themselves: what Tab makes of a line. Skips where a shell is not installed."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PATIENCE_S = 60.0


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home without habits, and our commands on the path."""
    commands = Path(sys.executable).parent
    here = {"HOME": str(tmp_path), "ZDOTDIR": str(tmp_path), "TERM": "dumb", "OTTLA_BOOTSTRAP": "127.0.0.1:1"}
    return {**os.environ, **here, "PATH": f"{commands}:{os.environ['PATH']}"}


def _require(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: scripts/install-debian-packages")


def _output(shell: str, program: str, environment: dict[str, str], directory: Path) -> list[str]:
    command = [shell, "-c", program]
    found = subprocess.run(
        command, env=environment, cwd=directory, stdout=subprocess.PIPE, text=True, check=True, timeout=PATIENCE_S
    )
    return found.stdout.splitlines()


LINES = [
    ("ottla top", ["topics"]),
    ("ottla topics d", ["delete", "describe"]),
    ("ottla topics describe --js", ["--json"]),
    ("ottla produce orders --format ", ["json", "lines"]),
    ("ottla completion ", ["bash", "fish", "zsh"]),
    ("ottla log dump some", ["some-file"]),
]
"""The last one is where only the user's files can help."""


@pytest.mark.parametrize(("line", "words"), LINES)
def test_fish(line: str, words: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    _require("fish")
    (tmp_path / "some-file").touch()
    program = f"ottla completion fish | source; complete -C '{line}'"
    found = _output("fish", program, environment, tmp_path)
    assert sorted(word.partition("\t")[0] for word in found) == words


@pytest.mark.parametrize(("line", "words"), LINES[:-1])
def test_bash(line: str, words: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    _require("bash")
    typed = " ".join(f"'{word}'" for word in line.split(" "))
    program = f"""
        eval "$(ottla completion bash)"
        COMP_WORDS=({typed}) COMP_CWORD={line.count(" ")}
        _ottla_complete
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    assert sorted(_output("bash", program, environment, tmp_path)) == words


@contextmanager
def _terminal(command: list[str], environment: dict[str, str], directory: Path) -> Iterator[int]:
    """The end of a terminal where a user would sit."""
    user, theirs = pty.openpty()
    process = subprocess.Popen(
        command, env=environment, cwd=directory, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        yield user
    finally:
        process.kill()
        process.wait()
        os.close(user)


def _read_until(terminal: int, pattern: str) -> str:
    seen = ""
    deadline = time.monotonic() + PATIENCE_S
    while re.search(pattern, seen) is None:
        readable, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        assert readable, f"no {pattern!r} in {seen!r}"
        seen += os.read(terminal, 65_536).decode(errors="replace")
    return seen


@pytest.mark.parametrize(("line", "words"), [line for line in LINES if len(line[1]) == 1])
def test_zsh_completes_what_is_clear(line: str, words: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    _require("zsh")
    (tmp_path / "some-file").touch()
    (tmp_path / ".zshrc").write_text('bindkey -e\neval "$(ottla completion zsh)"\nPS1="READY> "\n')
    with _terminal(["zsh", "-i"], environment, tmp_path) as terminal:
        _read_until(terminal, "READY> ")
        # Tab, then what stands there is printed.
        os.write(terminal, f"{line}\t\x01print -r GOT \n".encode())
        begin = line.rpartition(" ")[0]
        _read_until(terminal, rf"\nGOT {begin} {words[0]}\b")


def test_zsh_shows_what_words_mean(environment: dict[str, str], tmp_path: Path) -> None:
    _require("zsh")
    (tmp_path / ".zshrc").write_text('bindkey -e\neval "$(ottla completion zsh)"\nPS1="READY> "\n')
    with _terminal(["zsh", "-i"], environment, tmp_path) as terminal:
        _read_until(terminal, "READY> ")
        os.write(terminal, b"ottla topics d\t\t")
        _read_until(terminal, r"describe +-- show the partitions and settings of topics")
