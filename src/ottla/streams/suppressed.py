"""How `suppress` is told what to hold back, how much of it, and for how long."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ottla.streams.duration import Duration, signed_milliseconds


@dataclass(frozen=True, slots=True)
class BufferConfig:
    """How much a suppression may hold back, and what happens then."""

    records_max: int | None = None
    bytes_max: int | None = None
    emits_when_full: bool = True
    logging: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def unbounded(cls) -> "BufferConfig":
        """As much as it takes."""
        return cls(emits_when_full=False)

    @classmethod
    def max_records(cls, limit: int) -> "BufferConfig":
        """At most this many records; then the oldest leave early."""
        return cls(records_max=limit)

    @classmethod
    def max_bytes(cls, limit: int) -> "BufferConfig":
        """At most this many bytes; then the oldest leave early."""
        return cls(bytes_max=limit)

    def with_max_records(self, limit: int) -> "BufferConfig":
        """The same, with at most this many records."""
        return replace(self, records_max=limit)

    def with_max_bytes(self, limit: int) -> "BufferConfig":
        """The same, with at most this many bytes."""
        return replace(self, bytes_max=limit)

    def with_no_bound(self) -> "BufferConfig":
        """As much as it takes."""
        return replace(self, records_max=None, bytes_max=None, emits_when_full=False)

    def shut_down_when_full(self) -> "BufferConfig":
        """Fails instead of letting something leave early."""
        return replace(self, emits_when_full=False)

    def emit_early_when_full(self) -> "BufferConfig":
        """Lets the oldest leave early."""
        return replace(self, emits_when_full=True)

    def with_logging_enabled(self, config: Mapping[str, str]) -> "BufferConfig":
        """With a changelog that has these settings."""
        return replace(self, logging=True, topic_config=dict(config))

    def with_logging_disabled(self) -> "BufferConfig":
        """Without a changelog."""
        return replace(self, logging=False)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """How long a table's updates are held back."""

    wait_ms: int | None
    buffer: BufferConfig
    name: str | None = None

    @classmethod
    def until_window_closes(cls, buffer: BufferConfig) -> "Suppressed":
        """Until the window closes: only its last result leaves."""
        if buffer.emits_when_full:
            raise ValueError("the final result needs a buffer that is unbounded or shuts down when it is full")
        return cls(None, buffer)

    @classmethod
    def until_time_limit(cls, time_to_wait: Duration, buffer: BufferConfig) -> "Suppressed":
        """For this long after a key's first update; then its latest one leaves."""
        return cls(signed_milliseconds(time_to_wait), buffer)

    def with_name(self, name: str) -> "Suppressed":
        """With this name."""
        return replace(self, name=name)
