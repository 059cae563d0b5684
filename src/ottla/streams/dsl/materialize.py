"""From `Materialized` to the store of a table: names, serdes, retention."""

from dataclasses import dataclass, replace
from typing import Any

from ottla.streams.dsl.graph import Graph
from ottla.streams.engine.store.spec import StoreKind, StoreSpec
from ottla.streams.option import Materialized
from ottla.streams.serde import Serde


@dataclass(frozen=True)
class Store:
    """A table's store: what it will be, and whether the user named it (only then it can be queried)."""

    spec: StoreSpec
    is_named: bool
    is_versioned: bool = False


def materialized(
    graph: Graph, given: Materialized[Any, Any] | None, prefix: str, serdes: tuple[Serde[Any] | None, Serde[Any] | None]
) -> Store:
    """A key-value store; one without a name gets a generated one."""
    given = given or Materialized()
    name = given.store_name or graph.store_name(prefix)
    versioned = given.supplier is not None and given.supplier.kind is StoreKind.VERSIONED
    spec = StoreSpec(
        name,
        StoreKind.VERSIONED if versioned else StoreKind.TIMESTAMPED_KEY_VALUE,
        given.key_serde or serdes[0],
        given.value_serde or serdes[1],
        persistent=graph.is_persistent(given.supplier, given.store_type),
        logging=given.logging,
        topic_config=given.topic_config,
    )
    if versioned and given.supplier is not None:
        spec = replace(spec, retention_ms=given.supplier.retention_ms)
    return Store(spec, given.store_name is not None, versioned)


def windowed(
    store: Store, given: Materialized[Any, Any] | None, size_ms: int, grace_ms: int, *, is_sliding: bool
) -> Store:
    """Makes it a window store. Its retention is at least size plus grace, for sliding windows twice the size."""
    size = "2 * time difference" if is_sliding else "its window size"
    least = min(size_ms * (1 + is_sliding) + grace_ms, (1 << 63) - 1)
    retention = _retention(given, least)
    if retention < least:
        raise ValueError(
            f"The retention period of the window store {store.spec.name} must be no smaller than {size} plus the grace "
            f"period. Got {'time difference' if is_sliding else 'size'}=[{size_ms}], grace=[{grace_ms}], "
            f"retention=[{retention}]"
        )
    spec = replace(store.spec, kind=StoreKind.TIMESTAMPED_WINDOW, retention_ms=retention, window_size_ms=size_ms)
    return replace(store, spec=spec)


def sessions(store: Store, given: Materialized[Any, Any] | None, gap_ms: int, grace_ms: int) -> Store:
    """Makes it a session store. Its retention is at least gap plus grace."""
    retention = _retention(given, gap_ms + grace_ms)
    if retention < gap_ms + grace_ms:
        raise ValueError(
            f"The retention period of the session store {store.spec.name} must be no smaller than the session "
            f"inactivity gap plus the grace period. Got gap=[{gap_ms}], grace=[{grace_ms}], retention=[{retention}]"
        )
    return replace(store, spec=replace(store.spec, kind=StoreKind.SESSION, retention_ms=retention))


def _retention(given: Materialized[Any, Any] | None, least: int) -> int:
    if given is None:
        return least
    if given.supplier is not None and given.supplier.retention_ms:
        return given.supplier.retention_ms
    return least if given.retention_ms is None else given.retention_ms
