"""Codec ids, names and levels, as Kafka has them.

The id is what bits 0 to 2 of a batch's attributes say, the name what `compression.type` says.
"""

from enum import IntEnum

from ottla.base.errors import OttlaError
from ottla.protocol.errors import UnsupportedCompressionTypeError


class CompressionLevelError(OttlaError):
    """The codec has no such level."""


class CompressionType(IntEnum):
    """A codec by its id."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @property
    def config_name(self) -> str:
        """The name in configurations: `gzip`, `zstd`, …"""
        return self.name.lower()

    @property
    def default_level(self) -> int | None:
        """The level used where none is given; None for codecs without levels."""
        return _DEFAULT_LEVELS.get(self)

    @classmethod
    def from_id(cls, codec_id: int) -> "CompressionType":
        """The codec with this id; 5 to 7 fit the attributes but mean nothing."""
        if 0 <= codec_id < len(_BY_ID):
            return _BY_ID[codec_id]
        raise UnsupportedCompressionTypeError(f"Unknown compression type id: {codec_id}")

    @classmethod
    def from_name(cls, name: str) -> "CompressionType":
        """The codec that configurations call by this name."""
        for codec in cls:
            if codec.config_name == name:
                return codec
        raise UnsupportedCompressionTypeError(f"Unknown compression name: {name}")

    def checked_level(self, level: int | None) -> int:
        """The level, or the codec's default for None; refuses what Kafka's configuration would refuse.

        >>> CompressionType.ZSTD.checked_level(None)
        3
        """
        if self not in _LEVELS:
            if level is None:
                return 0
            raise CompressionLevelError(f"{self.config_name} has no levels")
        lowest, highest = _LEVELS[self]
        if level is None or level == _DEFAULT_LEVELS[self]:
            return _DEFAULT_LEVELS[self]
        if not lowest <= level <= highest:
            raise CompressionLevelError(f"{self.config_name} has levels {lowest} to {highest}, not {level}")
        return level


_BY_ID = tuple(CompressionType)
_LEVELS = {CompressionType.GZIP: (1, 9), CompressionType.LZ4: (1, 17), CompressionType.ZSTD: (-131072, 22)}
_DEFAULT_LEVELS = {CompressionType.GZIP: -1, CompressionType.LZ4: 9, CompressionType.ZSTD: 3}
