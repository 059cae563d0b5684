"""A Spark home without PySpark's zip file: Spark's Python processes then import the PySpark that is installed.

Spark puts `python/lib/pyspark.zip` of its home in front of the path of every Python process that it starts, a handful
for each query. Nothing that is imported from a zip file is kept compiled, so each of them compiles PySpark anew: 0.75
instead of 0.25 s of CPU, and a process that takes more than ten seconds to come up ends its query. The home made here
has links to everything but that. It is for this machine alone: executors elsewhere have a home of their own.
"""

import contextlib
import hashlib
import importlib.util
import os
from pathlib import Path
from typing import Final

_LINKED: Final = ("bin", "sbin", "jars", "conf")


def lean_spark_home() -> Path | None:
    """The home, made if need be; None where the user has chosen one, or no place can be written to."""
    spec = importlib.util.find_spec("pyspark")
    if "SPARK_HOME" in os.environ or spec is None or spec.origin is None:
        return None
    real = Path(spec.origin).parent
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "ottla" / "spark-home" / hashlib.sha256(bytes(real)).hexdigest()[:16]
    try:
        home.mkdir(parents=True, exist_ok=True)
        for found in _LINKED:
            target = real / found
            if target.exists():
                with contextlib.suppress(FileExistsError):
                    (home / found).symlink_to(target)
    except OSError:
        return None
    return home
