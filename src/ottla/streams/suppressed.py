"""The options of `suppress`: how long updates are held back, and how much memory that may take."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ottla.streams.duration import Duration, signed_milliseconds


@dataclass(frozen=True, slots=True)
class BufferConfig:
    """The bounds of the buffer of `suppress`, and its behaviour when it is full."""

    records_max: int | None = None
    bytes_max: int | None = None
    emits_when_full: bool = True
    logging: bool = True
    topic_config: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def unbounded(cls) -> "BufferConfig":
        """A buffer that grows as needed."""
        return cls(emits_when_full=False)

    @classmethod
    def max_records(cls, limit: int) -> "BufferConfig":
        """A buffer of at most this many records; when it is full it emits the oldest early."""
        return cls(records_max=limit)

    @classmethod
    def max_bytes(cls, limit: int) -> "BufferConfig":
        """A buffer of at most this many bytes; when it is full it emits the oldest early."""
        return cls(bytes_max=limit)

    def with_max_records(self, limit: int) -> "BufferConfig":
        """Bounds the number of records."""
        return replace(self, records_max=limit)

    def with_max_bytes(self, limit: int) -> "BufferConfig":
        """Bounds the number of bytes."""
        return replace(self, bytes_max=limit)

    def with_no_bound(self) -> "BufferConfig":
        """Removes the bounds."""
        return replace(self, records_max=None, bytes_max=None, emits_when_full=False)

    def shut_down_when_full(self) -> "BufferConfig":
        """Fails when the buffer is full, instead of emitting early."""
        return replace(self, emits_when_full=False)

    def emit_early_when_full(self) -> "BufferConfig":
        """Emits the oldest updates early when the buffer is full."""
        return replace(self, emits_when_full=True)

    def with_logging_enabled(self, config: Mapping[str, str]) -> "BufferConfig":
        """With a changelog that has these settings."""
        return replace(self, logging=True, topic_config=dict(config))

    def with_logging_disabled(self) -> "BufferConfig":
        """Without a changelog."""
        return replace(self, logging=False)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """How long `suppress` holds a table's updates back."""

    wait_ms: int | None
    buffer: BufferConfig
    name: str | None = None

    @classmethod
    def until_window_closes(cls, buffer: BufferConfig) -> "Suppressed":
        """Until the window closes: only its last result is emitted."""
        if buffer.emits_when_full:
            raise ValueError("the final result needs a buffer that is unbounded or shuts down when it is full")
        return cls(None, buffer)

    @classmethod
    def until_time_limit(cls, time_to_wait: Duration, buffer: BufferConfig) -> "Suppressed":
        """For this long after a key's first update; then its latest one is emitted."""
        return cls(signed_milliseconds(time_to_wait), buffer)

    def with_name(self, name: str) -> "Suppressed":
        """With this name."""
        return replace(self, name=name)
