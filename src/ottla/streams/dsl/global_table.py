"""GlobalKTable: a topic that every instance holds whole, for joins by any key."""

from typing import Generic

from ottla.streams.engine.operator.table import View
from ottla.streams.record import K, V


class GlobalKTable(Generic[K, V]):
    """A global table; only joins look into it."""

    def __init__(self, view: View, queryable_store_name: str | None) -> None:
        self.view = view
        self.queryable_store_name = queryable_store_name
