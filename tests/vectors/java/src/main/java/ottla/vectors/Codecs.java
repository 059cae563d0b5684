// SPDX-License-Identifier: Apache-2.0
package ottla.vectors;

import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.CompressionType;

/** Compression codecs at their default or at a given level. */
final class Codecs {
    private Codecs() {
    }

    static Compression of(CompressionType type) {
        return Compression.of(type).build();
    }

    static Compression of(CompressionType type, int level) {
        return switch (type) {
            case GZIP -> Compression.gzip().level(level).build();
            case LZ4 -> Compression.lz4().level(level).build();
            case ZSTD -> Compression.zstd().level(level).build();
            default -> throw new IllegalArgumentException(type + " has no levels");
        };
    }
}
