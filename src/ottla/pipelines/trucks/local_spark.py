"""The Spark of a truck run: a session whose Java process writes to a file, and whose end is told in a sentence.

Once the Java process is gone, whichever question Spark is asked next fails with an error of the wire; what has happened
is that the process ended, most often because the machine had no memory left.
"""

import contextlib
import logging
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ottla.pipelines.session import SparkUnavailableError, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_END_SECONDS: Final = 5.0
"""How long a process that answers no more may take to be gone."""


class LocalSpark:
    """Runs from `start` to `stop`; what Java says goes to a file in the data directory."""

    def __init__(self, data: Path) -> None:
        self.log: Final = data / "spark.log"
        self._data: Final = data
        self._session: SparkSession | None = None

    def start(self) -> "SparkSession":
        """Starts it and waits until it can be asked."""
        settings = {
            "spark.local.dir": str((self._data / "spark").resolve()),
            "spark.sql.warehouse.dir": str((self._data / "warehouse").resolve()),
            "spark.log.level": "ERROR",
        }
        try:
            with self._quiet_java(), self.told_if_it_ends():
                self._session = session("trucks", settings=settings)
        except SparkUnavailableError as error:
            raise SparkUnavailableError(f"{error} (what it said: {self.log})") from None
        for name in ("py4j", "pyspark"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        return self._session

    def stop(self) -> None:
        """Ends it, if it was started and lives."""
        if self._session is not None and _java_end() is None:
            with self._quiet_java():
                self._session.stop()

    @contextlib.contextmanager
    def told_if_it_ends(self) -> Iterator[None]:
        """`SparkUnavailableError` in place of whatever is raised because Java is gone."""
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]

        try:
            yield
        except (Py4JError, OSError):
            ended = _java_end(_END_SECONDS)
            if ended is None:
                raise
            raise SparkUnavailableError(
                f"Spark's Java process ended in the middle ({ended}). If the system killed it for want of memory, as "
                "dmesg would tell, end something else or give this machine more. The next run goes on from here."
            ) from None

    @contextlib.contextmanager
    def _quiet_java(self) -> Iterator[None]:
        """It writes to our error output by itself, above all while it starts and stops."""
        kept = os.dup(2)
        with self.log.open("ab") as target:
            os.dup2(target.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def _java_end(wait_seconds: float = 0.0) -> str | None:
    """The exit of the Java process of this one; None while it runs, or if there was none."""
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        return None
    process: subprocess.Popen[bytes] = SparkContext._gateway.proc
    try:
        code = process.wait(wait_seconds)
    except subprocess.TimeoutExpired:
        return None
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"
