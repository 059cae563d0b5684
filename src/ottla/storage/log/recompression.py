"""Topics with a codec of their own: batches that come with another are compressed again before they are appended.

Checked first, so that a bad batch is refused as what it was sent as. Markers stay as they are.
"""

from typing import Self

from ottla.base.frozen import frozen
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.batch import Batch
from ottla.protocol.records.validation import AppendOrigin, AppendRules, validate
from ottla.protocol.records.writer import recompress
from ottla.storage.log_config import LogConfig

_AS_PRODUCED = "producer"
_UNCOMPRESSED = "uncompressed"


@frozen
class Recompression:
    """The codec and level of a topic that recompresses its producers' batches."""

    codec: CompressionType
    level: int | None

    @classmethod
    def of(cls, config: LogConfig) -> Self | None:
        """The topic's codec; None if it takes what producers send."""
        name = config.compression_type
        if name == _AS_PRODUCED:
            return None
        codec = CompressionType.NONE if name == _UNCOMPRESSED else CompressionType.from_name(name)
        levels = {
            CompressionType.GZIP: config.compression_gzip_level,
            CompressionType.LZ4: config.compression_lz4_level,
            CompressionType.ZSTD: config.compression_zstd_level,
        }
        return cls(codec, levels.get(codec))

    def wants(self, batch: Batch) -> bool:
        """Whether the batch has to be compressed again."""
        return batch.codec_id != self.codec and not batch.is_control

    def apply(self, batch: Batch, rules: AppendRules, now_ms: int, origin: AppendOrigin) -> bytearray:
        """The batch with the topic's codec."""
        validate(batch, rules, now_ms, origin)
        return recompress(batch, self.codec, self.level, rules.decompressed_bytes_max)
