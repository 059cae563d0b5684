"""Opens a store by its kind, and gives readers the view of it that they expect."""

from typing import Any, Final

from ottla.streams.engine.store.buffer import TimeOrderedBuffer
from ottla.streams.engine.store.key_value import KeyValueStore, TimestampedKeyValueStore, ValueView
from ottla.streams.engine.store.outer_join import OuterJoinStore
from ottla.streams.engine.store.session_store import SessionStore
from ottla.streams.engine.store.spec import StoreContext, StoreKind, StoreSpec
from ottla.streams.engine.store.subscription import SubscriptionStore
from ottla.streams.engine.store.versioned import VersionedKeyValueStore
from ottla.streams.engine.store.window_store import TimestampedWindowStore, WindowStore, WindowValueView

_KINDS: Final[dict[StoreKind, Any]] = {
    StoreKind.KEY_VALUE: KeyValueStore,
    StoreKind.WINDOW: WindowStore,
    StoreKind.SESSION: SessionStore,
    StoreKind.VERSIONED: VersionedKeyValueStore,
    StoreKind.TIMESTAMPED_KEY_VALUE: TimestampedKeyValueStore,
    StoreKind.TIMESTAMPED_WINDOW: TimestampedWindowStore,
    StoreKind.OUTER_JOIN: OuterJoinStore,
    StoreKind.BUFFER: TimeOrderedBuffer,
    StoreKind.SUBSCRIPTION: SubscriptionStore,
}


def open_store(spec: StoreSpec, context: StoreContext) -> Any:
    """The store, over the bytes that the context has for it."""
    return _KINDS[spec.kind](spec, context)


def view_of(store: Any) -> Any:
    """The store as its readers see it: values without timestamps."""
    if isinstance(store, TimestampedKeyValueStore):
        return ValueView(store)
    if isinstance(store, TimestampedWindowStore):
        return WindowValueView(store)
    return store
