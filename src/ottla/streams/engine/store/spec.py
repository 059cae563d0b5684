"""The specification of a store: kind, serdes, retention, changelog. A value; the host opens the store for each task."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple, Protocol

from ottla.streams.engine.store.state_map import StateMap
from ottla.streams.errors import required
from ottla.streams.record import Headers
from ottla.streams.serde import Serde


class StoreKind(Enum):
    """The kinds of stores; the first three and `VERSIONED` are what users can ask for."""

    KEY_VALUE = "key-value"
    WINDOW = "window"
    SESSION = "session"
    VERSIONED = "versioned"
    TIMESTAMPED_KEY_VALUE = "timestamped key-value"
    TIMESTAMPED_WINDOW = "timestamped window"
    OUTER_JOIN = "outer join"
    BUFFER = "buffer"
    SUBSCRIPTION = "subscription"


class StoreContext(Protocol):
    """The services that a task offers to a store."""

    @property
    def application_id(self) -> str:
        """The application's id, which names its topics."""
        ...

    def state_map(self, store: str) -> StateMap:
        """The bytes of a store."""
        ...

    def log_change(self, store: str, change: "LoggedChange") -> None:
        """Writes a change to the store's changelog."""
        ...

    def now(self) -> int:
        """The timestamp of the record that is being processed."""
        ...

    def default_serde(self, of_key: "SerdeRole") -> Serde[Any] | None:
        """The serde that the configuration names for keys or values."""
        ...


class SerdeRole(Enum):
    """The use of a serde: for keys or for values."""

    KEY = "key"
    VALUE = "value"


class LoggedChange(NamedTuple):
    """A record of a changelog; None deletes."""

    key: bytes
    value: bytes | None
    timestamp: int
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class StoreSupplier:
    """A kind of store without its serdes, which `Stores.…` makes and `Materialized.as_` takes."""

    name: str
    kind: StoreKind
    persistent: bool = True
    retention_ms: int = 0
    window_size_ms: int = 0
    retain_duplicates: bool = False

    def __post_init__(self) -> None:
        required(self.name, "name cannot be null")


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """A store of a topology."""

    name: str
    kind: StoreKind
    key_serde: Serde[Any] | None = None
    value_serde: Serde[Any] | None = None
    retention_ms: int = 0
    window_size_ms: int = 0
    retain_duplicates: bool = False
    by_time: bool = False
    persistent: bool = True
    logging: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)
    other_value_serde: Serde[Any] | None = None

    def with_logging_disabled(self) -> "StoreSpec":
        """Without a changelog: its content is lost with the task's disk."""
        return replace(self, logging=False)

    def with_logging_enabled(self, config: Mapping[str, str]) -> "StoreSpec":
        """With a changelog that has these settings."""
        return replace(self, logging=True, topic_config=dict(config))

    def with_caching_enabled(self) -> "StoreSpec":
        """Has no effect: every update is an output."""
        return self

    def with_caching_disabled(self) -> "StoreSpec":
        """Has no effect: there is no cache."""
        return self

    @property
    def is_windowed(self) -> bool:
        """Whether it holds windows or sessions, so that its changelog has a retention time."""
        return self.kind in (StoreKind.WINDOW, StoreKind.TIMESTAMPED_WINDOW, StoreKind.SESSION)

    @property
    def is_versioned(self) -> bool:
        """Whether it keeps older values."""
        return self.kind is StoreKind.VERSIONED


LogChange = Callable[[LoggedChange], None]
