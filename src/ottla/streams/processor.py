"""The Processor API: operators that users write, with stores and punctuation."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import Any, Generic, Protocol, TypeVar

from ottla.streams.duration import Duration
from ottla.streams.record import K, Record, RecordMetadata
from ottla.streams.serde import Serde

KOut = TypeVar("KOut")
VOut = TypeVar("VOut")
KIn = TypeVar("KIn", contravariant=True)
VIn = TypeVar("VIn", contravariant=True)
"""A processor of any value also takes those of one kind, and so does a context what is forwarded."""


class PunctuationType(Enum):
    """Which time a punctuation follows."""

    STREAM_TIME = "stream time"
    WALL_CLOCK_TIME = "wall clock"


class Cancellable(Protocol):
    """A scheduled punctuation."""

    def cancel(self) -> None:
        """Stops the punctuation: it does not fire any more."""
        ...


class ProcessorContext(Protocol[KIn, VIn]):
    """The services that a task offers to a processor."""

    def forward(self, record: Record[KIn, VIn], child_name: str | None = None) -> None:
        """Sends a record to all children, or to the one of that name."""
        ...

    def get_state_store(self, name: str) -> Any:
        """A store that the processor was connected with."""
        ...

    def schedule(
        self,
        interval: Duration,
        punctuation: PunctuationType,
        callback: Callable[[int], None],
        start_time: int | None = None,
    ) -> Cancellable:
        """Calls `callback(time)` every `interval` of stream time or of the clock.

        With a start (milliseconds since 1970) the first call is at it, and the others are whole intervals later.
        """
        ...

    def record_metadata(self) -> RecordMetadata | None:
        """Topic, partition and offset of the current record; None in a punctuation."""
        ...

    def current_stream_time_ms(self) -> int:
        """The largest timestamp of the task so far."""
        ...

    def current_system_time_ms(self) -> int:
        """The host's clock."""
        ...

    def application_id(self) -> str:
        """The application's id."""
        ...

    def task_id(self) -> str:
        """Sub-topology and partition, as in `0_3`."""
        ...

    def app_configs(self) -> dict[str, Any]:
        """The application's configuration."""
        ...

    def app_configs_with_prefix(self, prefix: str) -> dict[str, Any]:
        """The settings that begin like this, without it."""
        ...

    def key_serde(self) -> Serde[Any] | None:
        """The serde of keys that the configuration names."""
        ...

    def value_serde(self) -> Serde[Any] | None:
        """The serde of values that the configuration names."""
        ...

    def commit(self) -> None:
        """Asks for a commit as soon as possible."""
        ...


class Processor(ABC, Generic[KIn, VIn, KOut, VOut]):
    """An operator of the user's. A topology makes one for each task.

    `self.context` is set by `init`.
    """

    context: ProcessorContext[KOut, VOut]

    def init(self, context: ProcessorContext[KOut, VOut]) -> None:
        """Called once before the first record."""
        self.context = context

    @abstractmethod
    def process(self, record: Record[KIn, VIn]) -> None:
        """Processes one record."""

    def close(self) -> None:  # most processors have nothing to close
        """Called once after the last record."""


class FixedKeyProcessor(Processor[K, VIn, K, VOut]):
    """A processor that keeps the key of its records: what follows needs no repartition."""


def uses_fixed_key(processor: Processor[Any, Any, Any, Any]) -> bool:
    return isinstance(processor, FixedKeyProcessor)
