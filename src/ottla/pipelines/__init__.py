"""Data pipelines on Apache Spark: topics as data frames, read and written. Needs `pip install ottla[spark]`.

`spark.read.format("ottla")` works wherever this package is installed; `session` makes a SparkSession that is set up
for it, `register` adds the format to one that does not find it. See docs/SPARK.md.
"""

from typing import TYPE_CHECKING

from ottla.base.lazy import lazy_names

if TYPE_CHECKING:
    from ottla.pipelines.registry.function import from_registry, to_registry
    from ottla.pipelines.session import register, session

_PLACES = {
    "from_registry": "registry.function",
    "register": "session",
    "session": "session",
    "to_registry": "registry.function",
}

__all__ = ["from_registry", "register", "session", "to_registry"]

__getattr__ = lazy_names(__name__, _PLACES)
