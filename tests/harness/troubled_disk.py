"""Data directories whose disk can be given troubles: `troubled_disk.c` before the C library of a broker's process.

Needs a C compiler; a test that uses it is skipped in one line where there is none.
"""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

_SOURCE: Final = Path(__file__).with_suffix(".c")


class TroubledDisk:
    """Everything below a directory, for processes that are started with `environment`."""

    def __init__(self, directory: Path, workplace: Path) -> None:
        self._library = workplace / "troubled_disk.so"
        self._control = workplace / "trouble"
        self._failed = workplace / "trouble.failed"
        self._directory = directory
        self._number = 0
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler, which makes a disk with troubles")
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", str(self._library), str(_SOURCE), "-ldl"], check=True
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to have such a disk."""
        return {
            "LD_PRELOAD": str(self._library),
            "OTTLA_DISK": str(self._directory),
            "OTTLA_DISK_CONTROL": str(self._control),
        }

    def command(self, command: list[str]) -> list[str]:
        """The command line that runs a program on such a disk."""
        return ["env", *(f"{name}={value}" for name, value in self.environment.items()), *command]

    @contextmanager
    def reads_hang(self) -> Iterator[None]:
        """No read of what is not in the page cache ends before the block does."""
        with self._trouble("r"):
            yield

    @contextmanager
    def writes_hang(self) -> Iterator[None]:
        """No write and no flush ends before the block does."""
        with self._trouble("w"):
            yield

    @contextmanager
    def fails(self, kinds: str, error: int, *, after: int = 0, once: bool = False, part: str = "/") -> Iterator[None]:
        """Calls of the kinds that `troubled_disk.c` lists fail, or one of them, once `after` others went well."""
        self._number += 1
        self._failed.unlink(missing_ok=True)
        with self._trouble(f"f {self._number} {kinds} {after} {error} {int(once)} {part}"):
            yield

    def failures(self) -> list[tuple[str, str]]:
        """Kind and path of each call that failed since the last `fails` began."""
        lines = self._failed.read_text().splitlines() if self._failed.exists() else []
        return [(kind, path) for kind, _, path in (line.partition(" ") for line in lines)]

    @contextmanager
    def _trouble(self, text: str) -> Iterator[None]:
        beside = self._control.with_suffix(".new")
        beside.write_text(text)
        beside.rename(self._control)
        try:
            yield
        finally:
            self._control.unlink()
