"""Which columns `poll_arrow` gives; knows no pyarrow, so that consumers without Arrow need none."""

from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ottla.client.consumer.fetch.arrow_batch import ArrowReader

COLUMNS: Final = ("topic", "partition", "offset", "timestamp", "timestampType", "key", "value", "headers")
"""All that `poll_arrow` can give, in this order unless another is asked for: the words of Spark's Kafka source."""


@lru_cache(maxsize=32)
def arrow_reader(columns: tuple[str, ...]) -> "ArrowReader":
    """The reader for some columns. Raises `ImportError` without pyarrow, `ValueError` for columns there are not."""
    try:
        from ottla.client.consumer.fetch.arrow_batch import ArrowReader
    except ModuleNotFoundError as error:
        raise ImportError("poll_arrow() needs pyarrow: pip install ottla[arrow]") from error
    if not set(columns) <= set(COLUMNS) or len(set(columns)) != len(columns):
        raise ValueError(f"columns are some of {', '.join(COLUMNS)}, each at most once; not {columns}")
    return ArrowReader(columns)
