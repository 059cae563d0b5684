"""The daemon that forks Spark's Python workers (`spark.python.daemon.module`), without its collections.

PySpark's own calls `gc.collect()` after every task of a reused worker. With Arrow and a client loaded this takes longer
than a small micro-batch. Here what the daemon has loaded is put aside once, and the collector runs when Python thinks
it is due, as in any other program.
"""

import gc
from collections.abc import Callable
from typing import Final

from pyspark import daemon


class _LazyCollector:
    """Stands for the module `gc` in PySpark's daemon."""

    collect: Final[Callable[[], None]] = staticmethod(lambda: None)


def main() -> None:
    """Serves until the JVM is gone."""
    gc.freeze()
    setattr(daemon, "gc", _LazyCollector)  # noqa: B010  (the name is no export of the module)
    daemon.manager()


if __name__ == "__main__":
    main()
