"""Data directories whose disk can be put to sleep: `sleeping_disk.c` before the C library of a broker's process.

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


class SleepingDisk:
    """Everything below a directory, for processes that are started with `environment`."""

    def __init__(self, directory: Path, workplace: Path) -> None:
        self._library = workplace / "sleeping_disk.so"
        self._control = workplace / "asleep"
        self._directory = directory
        compiler = shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler, which makes a disk that sleeps")
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", str(self._library), str(_SOURCE), "-ldl"], check=True
        )

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to have such a disk."""
        return {
            "LD_PRELOAD": str(self._library),
            "OTTLA_SLEEP_DIR": str(self._directory),
            "OTTLA_SLEEP_CONTROL": str(self._control),
        }

    @contextmanager
    def reads_hang(self) -> Iterator[None]:
        """No read of what is not in the page cache ends before the block does."""
        with self._asleep("r"):
            yield

    @contextmanager
    def writes_hang(self) -> Iterator[None]:
        """No write and no flush ends before the block does."""
        with self._asleep("w"):
            yield

    @contextmanager
    def _asleep(self, kind: str) -> Iterator[None]:
        beside = self._control.with_suffix(".new")
        beside.write_text(kind)
        beside.rename(self._control)
        try:
            yield
        finally:
            self._control.unlink()
