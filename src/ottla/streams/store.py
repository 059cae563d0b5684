"""`Stores`: the kinds of stores that users can ask for, by Kafka Streams' names.

A supplier is a store without serdes, for `Materialized.as_`; a builder has them, for processors. In memory and
persistent are the same to the engine: the host decides where bytes lie.
"""

from dataclasses import replace
from typing import Any

from ottla.streams.duration import Duration, milliseconds
from ottla.streams.engine.store.spec import StoreKind, StoreSpec, StoreSupplier
from ottla.streams.serde import Serde

AnySerde = Serde[Any] | None


class Stores:
    """Suppliers and builders of stores."""

    @staticmethod
    def persistent_key_value_store(name: str) -> StoreSupplier:
        """A key-value store on disk."""
        return StoreSupplier(name, StoreKind.KEY_VALUE)

    @staticmethod
    def in_memory_key_value_store(name: str) -> StoreSupplier:
        """A key-value store in memory."""
        return StoreSupplier(name, StoreKind.KEY_VALUE, persistent=False)

    @staticmethod
    def persistent_timestamped_key_value_store(name: str) -> StoreSupplier:
        """A key-value store whose values have a time, on disk."""
        return StoreSupplier(name, StoreKind.TIMESTAMPED_KEY_VALUE)

    @staticmethod
    def persistent_versioned_key_value_store(name: str, history_retention: Duration) -> StoreSupplier:
        """A store that knows the values of the past, as far as the retention goes back."""
        retention = milliseconds(history_retention, "historyRetention cannot be negative")
        return StoreSupplier(name, StoreKind.VERSIONED, retention_ms=retention)

    @staticmethod
    def persistent_window_store(
        name: str, retention_period: Duration, window_size: Duration, *, retain_duplicates: bool = False
    ) -> StoreSupplier:
        """A window store on disk."""
        retention = milliseconds(retention_period, "retentionPeriod cannot be negative")
        size = milliseconds(window_size, "windowSize cannot be negative")
        if size > retention:
            raise ValueError(
                f"The retention period of the window store {name} must be no smaller than its window size. "
                f"Got size=[{size}], retention=[{retention}]"
            )
        return StoreSupplier(
            name, StoreKind.WINDOW, retention_ms=retention, window_size_ms=size, retain_duplicates=retain_duplicates
        )

    @staticmethod
    def in_memory_window_store(
        name: str, retention_period: Duration, window_size: Duration, *, retain_duplicates: bool = False
    ) -> StoreSupplier:
        """A window store in memory."""
        supplier = Stores.persistent_window_store(
            name, retention_period, window_size, retain_duplicates=retain_duplicates
        )
        return replace(supplier, persistent=False)

    @staticmethod
    def persistent_timestamped_window_store(
        name: str, retention_period: Duration, window_size: Duration, *, retain_duplicates: bool = False
    ) -> StoreSupplier:
        """A window store whose values have a time, on disk."""
        supplier = Stores.persistent_window_store(
            name, retention_period, window_size, retain_duplicates=retain_duplicates
        )
        return replace(supplier, kind=StoreKind.TIMESTAMPED_WINDOW)

    @staticmethod
    def persistent_session_store(name: str, retention_period: Duration) -> StoreSupplier:
        """A session store on disk."""
        retention = milliseconds(retention_period, "retentionPeriod cannot be negative")
        return StoreSupplier(name, StoreKind.SESSION, retention_ms=retention)

    @staticmethod
    def in_memory_session_store(name: str, retention_period: Duration) -> StoreSupplier:
        """A session store in memory."""
        return replace(Stores.persistent_session_store(name, retention_period), persistent=False)

    @staticmethod
    def key_value_store_builder(supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde) -> StoreSpec:
        """A key-value store for processors."""
        return _built(supplier, StoreKind.KEY_VALUE, key_serde, value_serde)

    @staticmethod
    def timestamped_key_value_store_builder(
        supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde
    ) -> StoreSpec:
        """A key-value store for processors whose values have a time."""
        return _built(supplier, StoreKind.TIMESTAMPED_KEY_VALUE, key_serde, value_serde)

    @staticmethod
    def versioned_key_value_store_builder(
        supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde
    ) -> StoreSpec:
        """A versioned store for processors."""
        return _built(supplier, StoreKind.VERSIONED, key_serde, value_serde)

    @staticmethod
    def window_store_builder(supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde) -> StoreSpec:
        """A window store for processors."""
        return _built(supplier, StoreKind.WINDOW, key_serde, value_serde)

    @staticmethod
    def timestamped_window_store_builder(
        supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde
    ) -> StoreSpec:
        """A window store for processors whose values have a time."""
        return _built(supplier, StoreKind.TIMESTAMPED_WINDOW, key_serde, value_serde)

    @staticmethod
    def session_store_builder(supplier: StoreSupplier, key_serde: AnySerde, value_serde: AnySerde) -> StoreSpec:
        """A session store for processors."""
        return _built(supplier, StoreKind.SESSION, key_serde, value_serde)


def _built(supplier: StoreSupplier, kind: StoreKind, key_serde: AnySerde, value_serde: AnySerde) -> StoreSpec:
    return StoreSpec(
        supplier.name,
        kind,
        key_serde,
        value_serde,
        retention_ms=supplier.retention_ms,
        window_size_ms=supplier.window_size_ms,
        retain_duplicates=supplier.retain_duplicates,
        persistent=supplier.persistent,
    )
