"""Says on the terminal that a broker is out of reach, and that it is back, while a command goes on trying."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ottla.cli.output.style import Style, Tone
from ottla.client.cluster.absence import LOGGER

_REPEATS: Final = ("ottla.client.cluster.cluster_client", "ottla.client.cluster.metadata_refresh")
"""Loggers that tell of the same trouble from a client's inside."""


class _Line(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        said = f"ottla: {' '.join(record.getMessage().split())}"
        print(Style.of(sys.stderr).paint(said, Tone.FAINT), file=sys.stderr)


@contextmanager
def connection_news() -> Iterator[None]:
    """Tells inside of the block, in place of the clients' own warnings."""
    logger, line = logging.getLogger(LOGGER), _Line()
    silenced = [logging.getLogger(name) for name in _REPEATS]
    levels = [found.level for found in (logger, *silenced)]
    logger.addHandler(line)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for found in silenced:
        found.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.removeHandler(line)
        logger.propagate = True
        for found, level in zip((logger, *silenced), levels, strict=True):
            found.setLevel(level)
