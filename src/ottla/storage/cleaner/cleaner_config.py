"""The cleaner's own settings, all `log.cleaner.*`; what a topic may set is in `log_config_keys`."""

from collections.abc import Mapping
from typing import Final, Self

from ottla.base.config import ConfigKey, ConfigKeys, Dynamic
from ottla.base.config.check import Range
from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.storage.cleaner.key_map import ENTRY_BYTES

_MIB: Final = 1 << 20


def _key(name: str, kind: ConfigType, default: object, check: Range | None, doc: str) -> ConfigKey:
    return ConfigKey(f"log.cleaner.{name}", kind, default, doc=doc, check=check, dynamic=Dynamic.CLUSTER_WIDE)


CLEANER_CONFIG_KEYS: Final = ConfigKeys(
    (
        ConfigKey("log.cleaner.enable", ConfigType.BOOLEAN, True, doc="Whether compacted topics are compacted at all."),
        _key("threads", ConfigType.INT, 1, Range(0), "How many logs may be cleaned at once."),
        _key("io.max.bytes.per.second", ConfigType.DOUBLE, 1.7976931348623157e308, None,
             "Bytes that cleaning may read and write a second, all logs together."),
        _key("dedupe.buffer.size", ConfigType.LONG, 128 * _MIB, None,
             "Memory for the last offset of each key, all logs together; a key takes 24 bytes."),
        _key("io.buffer.size", ConfigType.INT, 512 * 1024, Range(0), "Memory for reading and writing, all together."),
        _key("io.buffer.load.factor", ConfigType.DOUBLE, 0.9, None,
             "How full the memory for keys may get before a round stops taking in more."),
        _key("backoff.ms", ConfigType.LONG, 15_000, Range(0), "Pause when nothing needs cleaning."),
    )
)  # fmt: skip
"""Every broker setting of the cleaner."""


@frozen(kw_only=True)
class CleanerConfig:
    """The settings as the cleaner reads them."""

    enable: bool = True
    threads: int = 1
    io_max_bytes_per_second: float = 1.7976931348623157e308
    dedupe_buffer_size: int = 128 * _MIB
    io_buffer_size: int = 512 * 1024
    io_buffer_load_factor: float = 0.9
    backoff_ms: int = 15_000

    @classmethod
    def from_values(cls, values: Mapping[str, object]) -> Self:
        """The settings among the broker's parsed `values`."""
        given = {name.removeprefix("log.cleaner.").replace(".", "_"): values[name] for name in CLEANER_CONFIG_KEYS}
        return cls(**given)  # type: ignore[arg-type]

    @property
    def io_buffer_bytes(self) -> int:
        """Bytes of a round's read buffer, and of its write buffer; they grow for a larger batch."""
        return self.io_buffer_size // max(self.threads, 1) // 2

    @property
    def keys_max(self) -> int:
        """The number of keys that one round may hold."""
        slots = self.dedupe_buffer_size // max(self.threads, 1) // ENTRY_BYTES
        return max(int(slots * self.io_buffer_load_factor), 1)
